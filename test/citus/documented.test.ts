/**
 * A Citus cluster that the commands of docs/scale.md alone have set up. The programs run as there, with services on the
 * workers of Citus: operators decide at the desk, a person is erased, and keys are replaced.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type TOTP, URI } from 'otpauth';
import { Vault } from '../../src/seal/vault.ts';
import { emptyDataDir, run, type ServiceProcess, startService, submit } from '../process/support.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { CitusCluster, findCitus } from '../support/citus-cluster.ts';
import { dropOnAll } from '../support/citus-database.ts';
import { PASSWORD, tokenOf, Visitor } from '../support/console.ts';
import { TEST_SECRETS, TEST_VARIABLES } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/free-port.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { makeProposalsDue } from '../support/proposals.ts';
import { as, runtimePassword } from '../support/runtime-role.ts';
import { anApplication } from '../support/service.ts';

const bin = findCitus();
const STEP_MS = 30_000;
const AUTHORITY = 5_000_000;
const REASON_CODES = { approve: 'income_verified', reject: 'documents_invalid' } as const;
const key = () => randomBytes(32).toString('base64');

/** The SQL of the section "The cluster": for each machine, and for the coordinator. */
function documentedSql(): string[] {
  const [, section = ''] = readFileSync('docs/scale.md', 'utf8').split('\n### The cluster\n');
  const [text = ''] = section.split('\n### ');
  return [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql]) => sql as string);
}

/** Each call gives a code that was not given yet, when the service takes it: one of the next step too. */
function codesOf(totp: TOTP): () => Promise<string> {
  const stepNow = () => Math.floor(Date.now() / STEP_MS);
  let last = 0;
  return async () => {
    last = Math.max(last + 1, stepNow());
    await eventually('a code', () => last <= stepNow() + 1);
    return totp.generate({ timestamp: last * STEP_MS });
  };
}

describe('a Citus cluster as documented', { skip: bin === null && 'Citus is not installed' }, async () => {
  if (bin === null) return;
  // A start refuses a server without it.
  const cluster = await CitusCluster.start(bin, 2, { fsync: 'on' });
  const machines = cluster.machines();
  const password = runtimePassword(machines[0] as string);
  const urlOf = (machine: number, role = 'ventanilla_service') =>
    as(machines[machine] as string, role, password);
  const owner = openPatiently(urlOf(0, 'ventanilla'), 1);
  after(async () => {
    await owner.end();
    cluster.stop();
  });
  let secrets: Record<string, string> = { ...TEST_VARIABLES };
  /** The time to undo is over. Its MACs are made with the index key of today. */
  const makeDue = () => {
    const [newest = ''] = secrets.INDEX_KEY!.split(',');
    const vault = new Vault({ ...TEST_SECRETS, indexKey: Buffer.from(newest, 'base64') });
    return makeProposalsDue({ database: owner, vault });
  };

  /** A command with the DATABASE_URL of a machine. */
  const command = (machine: number, args: readonly string[], more: Record<string, string> = {}) =>
    run(process.execPath, ['src/start.js', ...args], {
      ...{ DATA_DIR: emptyDataDir(), DATABASE_URL: urlOf(machine), CHANNEL: 'log', ...secrets },
      ...more,
    }).exit;
  const json = async (machine: number, ...args: string[]) => {
    const { code, out, err } = await command(machine, [...args, '--json']);
    assert.equal(code, 0, `${args.join(' ')}: ${err}`);
    return JSON.parse(out);
  };
  /** The same, again while processes that have ended may still count as running. */
  const jsonPatiently = (machine: number, ...args: string[]) =>
    eventually(args.join(' '), async () => {
      const { code, out, err } = await command(machine, [...args, '--json']);
      if (code === 0) return JSON.parse(out);
      assert.match(err, /run/);
      return undefined;
    });

  const consolePorts = [await lastingPort(), await lastingPort()] as const;
  const consoleUrl = (index: number) => `http://localhost:${consolePorts[index]}`;
  let services: ServiceProcess[] = [];
  /** Starts a service on each worker, with a console. */
  async function serve(): Promise<void> {
    services = await Promise.all(
      consolePorts.map((port, index) =>
        startService(emptyDataDir(), {
          ...{ DATABASE_URL: urlOf(index + 1), CHANNEL: 'log', CONSOLE_PORT: `${port}`, UNDO_SECONDS: '600' },
          ...secrets,
        }),
      ),
    );
  }
  async function stopServices(): Promise<void> {
    for (const service of services) assert.equal((await service.stop()).code, 0);
  }

  /** Sends a request that must be taken, and gives its answer's body. */
  async function taken(visitor: Visitor, ...request: Parameters<Visitor['ask']>) {
    const { status, body } = await visitor.ask(...request);
    assert.equal(status, 200, `${request[0]} ${request[1]}: ${JSON.stringify(body)}`);
    return body;
  }
  /** Adds an operator, who chooses the factors behind the link. Returns what signs in at the console of that number. */
  async function operator(login: string, at: number, pesos: number): Promise<() => Promise<Visitor>> {
    const account = ['--login', login, '--role', 'reviewer', '--authority', `COP=${pesos}`];
    const { link } = await json(2 - at, 'operator', 'add', ...account);
    const token = tokenOf(link);
    const visitor = new Visitor(consoleUrl(at));
    const { totp } = await taken(visitor, 'POST', '/api/enrolment', { token, password: PASSWORD });
    const code = codesOf(URI.parse(totp) as TOTP);
    await taken(visitor, 'POST', '/api/enrolment/totp', { token, code: await code() });
    return async () => {
      await taken(visitor, 'POST', '/api/session', { login, password: PASSWORD });
      await taken(visitor, 'POST', '/api/session/totp', { code: await code() });
      return visitor;
    };
  }
  async function propose(visitor: Visitor, id: number, act: 'approve' | 'reject') {
    const { headers } = await visitor.ask('GET', `/api/applications/${id}`);
    const decision = { act, reason: 'looked at it', reason_code: REASON_CODES[act] };
    return taken(visitor, 'POST', `/api/applications/${id}/proposals`, decision, {
      'If-Match': headers.get('etag') as string,
    });
  }
  const statusOf = async (id: number) => (await json(0, 'application', 'show', `${id}`)).status;

  let signInAna: () => Promise<Visitor>;
  let ana: Visitor;
  let bob: Visitor;
  let apiKey = '';
  let ids: number[] = [];
  const applicants = [1, 2, 3, 4].map(() =>
    anApplication({ ...IN_REVIEW, debt_amount: AUTHORITY, num_debts: '2' }),
  );
  for (const index of [0, 3]) applicants[index]!.debt_amount = AUTHORITY + 1;

  it('is set up by the documented commands: a service starts on each worker of Citus', async () => {
    await dropOnAll(cluster.machines('postgres'), 'ventanilla');
    const [everywhere = '', once = ''] = documentedSql();
    const psql = (url: string, input: string) =>
      execFileSync(join(bin, 'psql'), [url, '-qX', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null'], { input });
    for (const url of cluster.machines('postgres')) psql(url, everywhere.replaceAll('…', password));
    const addressed = once.replaceAll(/'db(\d)', 5432/g, (_, n) => {
      const { hostname, port } = new URL(machines[Number(n)] as string);
      return `'${hostname}', ${port}`;
    });
    psql(machines[0] as string, addressed);
    const migrate = () =>
      command(0, ['migrate', '--distribute', '--json'], { MIGRATE_DATABASE_URL: urlOf(0, 'ventanilla') });
    const first = await migrate();
    assert.equal(first.code, 0, first.err);
    assert.ok(JSON.parse(first.out).distributed.includes('batches'));
    const second = await migrate();
    assert.equal(second.code, 0, second.err);
    assert.deepEqual(JSON.parse(second.out).distributed, []);
    await serve();
  });

  it('D48: operators decide with sessions on two workers: proposals, a confirmation, a refusal, an undo', async () => {
    const { id: partner } = await json(1, 'partner', 'add', '--name', 'Acme', '--country', 'CO');
    const { api_key } = await json(2, 'key', 'issue', '--partner', `${partner}`);
    apiKey = api_key;
    const { body } = await submit(services[0] as ServiceProcess, apiKey, applicants);
    ids = body.results.map(({ id }: { id: number }) => id);
    assert.equal(ids.length, applicants.length, JSON.stringify(body));
    signInAna = await operator('ana', 0, AUTHORITY);
    ana = await signInAna();
    bob = await (await operator('bob', 1, 2 * AUTHORITY))();
    await eventually('the queue', async () => {
      const { items } = await taken(bob, 'GET', '/api/review-queue');
      return items.length === ids.length;
    });
    const [large, small, undone, declined] = ids as [number, number, number, number];

    const { id: waits, needs_second } = await propose(ana, large, 'approve');
    assert.equal(needs_second, 'authority');
    const { id: refused } = await propose(ana, declined, 'approve');
    const { id: back } = await propose(ana, undone, 'reject');
    assert.equal((await propose(bob, small, 'reject')).needs_second, null);
    const { proposals } = await taken(bob, 'GET', '/api/proposals?list=to_confirm');
    assert.deepEqual(
      proposals.map(({ id }: { id: number }) => id),
      [waits, refused],
    );
    const { seen } = proposals[0].facts;
    await taken(bob, 'POST', `/api/proposals/${waits}/confirm`, { seen });
    await taken(bob, 'POST', `/api/proposals/${refused}/decline`, { reason: 'no document' });
    assert.equal((await taken(ana, 'POST', `/api/proposals/${back}/undo`, {})).state, 'undone');
    const told = await taken(ana, 'GET', '/api/proposals?list=came_back');
    assert.deepEqual(
      told.proposals.map(({ id, state }: { id: number; state: string }) => [id, state]),
      [[refused, 'declined']],
    );
    for (const id of [undone, declined])
      await taken(ana, 'POST', `/api/applications/${id}/notes`, { text: 'called back' });
    const shown = await taken(ana, 'POST', `/api/applications/${undone}/reveal`, { reason: 'to call back' });
    assert.equal(shown.id_number, applicants[2]!.id_number);

    await makeDue();
    await eventually('the decisions', async () => (await statusOf(small)) === 'rejected');
    await eventually('the decisions', async () => (await statusOf(large)) === 'pending_signature');
    assert.deepEqual([await statusOf(undone), await statusOf(declined)], ['in_review', 'in_review']);
    for (const machine of machines.keys()) {
      const { ok, misfits } = await json(machine, 'audit', 'verify');
      assert.deepEqual([ok, misfits], [true, []]);
    }
  });

  it('a person is erased with a session on the coordinator, and the desk shows nothing of them', async () => {
    const [, , id] = ids;
    const id_number = applicants[2]!.id_number as string;
    const erase = ['subject', 'erase', '--id-number', id_number, '--reason', 'asked', '--close', '--yes'];
    const refused = await command(1, erase);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /needs the coordinator/);
    await json(0, ...erase);
    for (const visitor of [ana, bob]) {
      const shown = await taken(visitor, 'POST', `/api/applications/${id}/reveal`, { reason: 'once more' });
      assert.deepEqual([shown.name, shown.phone, shown.id_number, shown.city], [null, null, null, null]);
      const page = await taken(visitor, 'GET', `/api/applications/${id}`);
      assert.deepEqual([page.status, page.notes], ['rejected', []]);
    }
  });

  it('replaces the data key while services run', async () => {
    const [before] = TEST_VARIABLES.DATA_KEYS.split(',');
    secrets = { ...secrets, DATA_KEYS: `2:${key()},${before}` };
    await stopServices();
    await serve();
    const { resealed, unopened } = await jsonPatiently(1, 'vault', 'reseal', '--wait');
    assert.ok(resealed > 0);
    assert.equal(unopened, 0);
    assert.equal((await jsonPatiently(2, 'vault', 'retire', '1')).retired, true);
    await taken(ana, 'DELETE', '/api/session');
    await signInAna();
    const [large, , , declined] = ids;
    const { notes } = await taken(ana, 'GET', `/api/applications/${declined}`);
    assert.deepEqual(
      notes.map(({ text }: { text: string }) => text),
      ['called back'],
    );
    const { id_number } = await taken(ana, 'POST', `/api/applications/${large}/reveal`, { reason: 'a look' });
    assert.equal(id_number, applicants[0]!.id_number);
  });

  it('replaces the index key while no service runs: operators stay signed in, a phone is found', async () => {
    secrets = { ...secrets, INDEX_KEY: `${key()},${TEST_VARIABLES.INDEX_KEY}` };
    await stopServices();
    const { written, unopened } = await jsonPatiently(1, 'vault', 'reindex');
    assert.ok(written > 0);
    assert.equal(unopened, 0);
    await serve();
    const [large, , , declined] = ids;
    const found = await json(2, 'application', 'list', '--phone', applicants[0]!.phone as string);
    assert.deepEqual(
      found.map(({ id }: { id: number }) => id),
      [large],
    );
    const { body } = await submit(services[1] as ServiceProcess, apiKey, applicants.slice(0, 1));
    assert.deepEqual([body.results, body.errors_detail.length], [[], 1], 'its phone is open');
    await propose(bob, declined as number, 'reject');
    await makeDue();
    await eventually('the decision', async () => (await statusOf(declined as number)) === 'rejected');
    await stopServices();
  });
});
