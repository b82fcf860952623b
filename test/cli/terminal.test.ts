/** A foreign text, from any source, reaches the terminal only as text. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { submit } from '../../packages/submit/test/commands/submit-harness.ts';
import type { Application } from '../../src/domain/application/fields.ts';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { messageType } from '../../src/domain/message/notify.ts';
import type { MessageReason } from '../../src/domain/message/reasons.ts';
import { toKeyId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { prepareBatch } from '../../src/subjects/applications/sql/prepared-batch.ts';
import { Registrar } from '../../src/subjects/applications/sql/registration.ts';
import { pauseSender, pauseTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { applicant } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { testDatabase } from '../support/database.ts';
import { livePolicyOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { readProgram } from '../support/sources.ts';
import { commandLine, REVEAL, type Run } from './harness.ts';
import { HARMLESS, HOSTILE, UNSAFE } from './unsafe-text.ts';
import { wholeProgram } from './whole-program.ts';

function assertSafe(run: Run, what: string): void {
  for (const text of [run.out, run.err]) {
    const found = UNSAFE.exec(text);
    assert.equal(
      found,
      null,
      `${what}: ${JSON.stringify(text.slice((found?.index ?? 0) - 40, (found?.index ?? 0) + 40))}`,
    );
  }
}

const store = await testDatabase();
const { database } = store;
const { run, json, roles } = commandLine(store);

/** Registers one batch without the rules that refuse such texts. Resolves to the ids. */
async function registerUnread(keyId: number, applications: readonly Application[]): Promise<ApplicationId[]> {
  const { id: policyId } = (await livePolicyOf(store)).now;
  const registrar = new Registrar(database, { indexKeyId: store.vault.indexKeyId }, { clock: machineClock });
  const candidates = applications.map((application, position) => {
    const assessment = BUILT_IN_CARD.decide(application);
    const type = messageType(application, assessment.decision);
    return { position, application, assessment, messageType: type };
  });
  const batch = prepareBatch(store.vault, { keyId: toKeyId(keyId), policyId }, candidates, null);
  const verdict = await registrar.register(batch, performance.now() + 10_000);
  assert.ok(verdict.kind === 'done');
  return candidates.map(({ position }) => {
    const outcome = verdict.batch.outcomeAt(position);
    assert.ok(outcome.kind === 'registered');
    return outcome.id;
  });
}

/** Makes every foreign text in the store hostile; most of these texts could not get in otherwise. */
const ids = await (async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const person = { name: HOSTILE, city: HOSTILE, id_number: HOSTILE, platform: HOSTILE };
  const [application, reviewed] = await registerUnread(key, [
    applicant({ ...person, phone: toPhone('+573001234567') }),
    applicant({ ...person, name: HARMLESS, phone: toPhone('+573001234568') }),
  ]);
  await json('application', 'disburse', `${reviewed}`, '--reason', 'paid');
  await database.query('UPDATE application_events SET actor = $1, reason = $1', [HOSTILE]);
  await database.query('UPDATE partner_events SET reason_code = $1', [HOSTILE]);
  await database.query('UPDATE partners SET name = $1', [HOSTILE]);
  await database.query(
    "UPDATE policies SET version = $1, content = content || jsonb_build_object('title', $1::text)",
    [HOSTILE],
  );
  await database.query('UPDATE policy_activations SET actor = $1, reason = $1', [HOSTILE]);
  await database.query(
    `INSERT INTO policy_shadows (version, content, constants, sha256, policy_id, activation_id, actor, ends_at, next_batch)
     SELECT $1, p.content, p.constants, p.sha256, p.id, 1, $1, now() + interval '1 day', 1 FROM policies p`,
    [HOSTILE],
  );
  const texts = { partner: HOSTILE, templates: { offer: HOSTILE } };
  await database.query('UPDATE api_keys SET hint = $1, brand = $2', [HOSTILE, JSON.stringify(texts)]);
  await setMessages(database, [application, reviewed], { reason: HOSTILE });
  await database.query(
    `INSERT INTO key_outcomes (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized, remembered,
       forgotten, sweep_at)
     SELECT date_trunc('hour', now()), id, 0, 1, 0, 0, 0, 0, 0, now() FROM api_keys`,
  );
  await database.query(
    "INSERT INTO operator_events VALUES (1000, now(), $1, $1, $1, NULL, $1, 0, decode(repeat('00', 32), 'hex'))",
    [HOSTILE],
  );
  await pauseSender(database, HOSTILE as MessageReason);
  await pauseTemplate(database, HOSTILE, HOSTILE as MessageReason);
  return { partner: `${partner}`, key: `${key}`, application: `${application}`, reviewed: `${reviewed}` };
})();

const folder = await mkdtemp(join(tmpdir(), 'ventanilla-terminal-'));
after(() => rm(folder, { recursive: true, force: true }));
const brandFile = join(folder, 'brand.json');
await writeFile(brandFile, JSON.stringify({ partner: `A ${HOSTILE}`, [HOSTILE]: HOSTILE }));

/** Each command that shows stored texts, in both forms. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  serve: [],
  worker: [],
  migrate: [],
  'partner add': ['--name', `B ${HARMLESS}\u202e`, '--country', 'CO'],
  'partner rename': [ids.partner, '--name', `C ${HARMLESS}\u202e`],
  'partner list': [],
  'partner endpoint set': [ids.partner, '--url', `https://${HOSTILE}.example/`],
  'partner endpoint show': [ids.partner],
  'partner endpoint test': [ids.partner],
  'partner endpoint rotate': [ids.partner],
  'partner endpoint disable': [ids.partner],
  'event list': ['--partner', ids.partner],
  'event resend': ['--partner', ids.partner, '--after', HOSTILE],
  'key issue': ['--partner', ids.partner, '--brand', brandFile],
  'key list': [],
  'key refusals': [],
  'key revoke': ['99'],
  'key rotate': [ids.key],
  'key set': [ids.key, '--daily-cap', '5'],
  'key brand show': [ids.key],
  'key brand set': [ids.key, brandFile],
  'quota show': ['--partner', ids.partner],
  'application list': [],
  'application show': [ids.reviewed],
  'application approve': [ids.application, '--reason', HOSTILE],
  'application reject': ['99', '--reason', HOSTILE],
  'application disburse': [ids.reviewed, '--reason', HOSTILE],
  'application free-phone': [ids.application, '--phone', `+57${HOSTILE}`, '--reason', HOSTILE],
  'contract show': [ids.application],
  'contract verify': [ids.application],
  'contract schedule': [ids.application],
  'contract withdraw': [ids.application, '--reason', HOSTILE],
  'disbursement plan': [ids.application],
  'disbursement list': [ids.application],
  'disbursement pay': [ids.application, '--reason', HOSTILE, '--line', HOSTILE],
  'disbursement return': [ids.application, '--reason', HOSTILE, '--line', HOSTILE],
  'debt list': [ids.application],
  'debt add': [ids.application, '--creditor', HOSTILE, '--balance', '5'],
  'debt accept': [ids.application, '--reason', HOSTILE],
  'debt remove': [ids.application, '99'],
  'conversation list': [],
  'conversation start': [ids.application],
  'conversation show': [ids.application],
  'conversation hand-over': [ids.application],
  'conversation say': [ids.application, `Hola ${HOSTILE}`],
  'conversation give-back': [ids.application],
  'conversation close': [ids.application],
  'income show': [ids.application],
  'income accept': [ids.application, '--reason', HOSTILE],
  'document list': [],
  'document show': ['99'],
  'document accept': ['99', '--reason', HOSTILE],
  'document reject': ['99', '--reason', HOSTILE],
  'operator add': ['--login', HOSTILE, '--role', 'viewer'],
  'operator list': [],
  'operator role': [`ana${HOSTILE}`, '--role', 'viewer'],
  'operator reset-factors': [HOSTILE],
  'operator sign-out': [HOSTILE],
  'operator disable': [HOSTILE],
  'partner account add': ['--partner', '1', '--login', HOSTILE],
  'partner account list': [],
  'partner account reset-factors': [HOSTILE],
  'partner account sign-out': [HOSTILE],
  'partner account disable': [HOSTILE],
  'message list': [],
  'message count': [],
  'message show': [ids.application],
  'message retry': [ids.application],
  'message cancel': [ids.application],
  'message resume': ['--template', HOSTILE],
  'reply list': [],
  'reply retry': [ids.application],
  'reply cancel': [ids.application],
  'suppression list': [],
  'suppression add': ['+573001234567'],
  'suppression remove': ['+573001234567'],
  'subject export': ['--phone', '+573001234568', ...REVEAL],
  report: [],
  'retention plan': [],
  'retention run': [],
  'subject correct': [
    '--application',
    ids.application,
    '--field',
    HOSTILE,
    '--value',
    HOSTILE,
    '--reason',
    HARMLESS,
  ],
  'subject erase': ['--phone', '+573001234568', '--reason', HARMLESS],
  'subject erasures': [],
  'subject replay-erasures': ['--from', join(folder, `none ${HOSTILE}`)],
  'audit list': [],
  'audit head': [],
  'audit verify': ['--head', HOSTILE],
  'backup create': ['--to', `/${HOSTILE}`],
  'policy list': [],
  'policy show': [HOSTILE],
  'policy add': [join(folder, `none ${HOSTILE}.json`)],
  'policy diff': [HOSTILE, `no ${HOSTILE}`],
  'policy activate': [HOSTILE, '--reason', HOSTILE],
  'policy withdraw': [HOSTILE],
  'policy export': [HOSTILE, '--file', join(folder, HOSTILE, 'policy.json')],
  'policy import': [
    join(folder, `none ${HOSTILE}.pmml`),
    '--base',
    'default-2',
    '--as',
    HOSTILE,
    '--file',
    join(folder, HOSTILE, 'new.json'),
  ],
  'suppression import': [join(folder, `none ${HOSTILE}`), '--source', 'CRC'],
  'suppression registers': [],
  'terms check': [join(folder, `none ${HOSTILE}.json`)],
  'terms price': ['--country', HOSTILE, '--amount', '1', '--on', '2026-12-01'],
  'reconsideration list': ['--answered'],
  'reconsideration answer': ['99', '--confirmed', HOSTILE],
  'policy replay': [],
  'policy backtest': [HOSTILE],
  'policy backtests': [],
  'policy labels import': [join(folder, `none ${HOSTILE}.csv`)],
  'policy drift': [],
  'policy shadow start': [HOSTILE],
  'policy shadow list': [],
  'policy shadow stop': [HOSTILE],
  'backup restore': ['--from', `/${HOSTILE}`, '--at', HOSTILE],
  'backup verify': ['--from', `/${HOSTILE}`, '--at', HOSTILE],
  'vault status': [],
  'vault reseal': [],
  'vault retire': ['99'],
  'vault reindex': [],
  status: [],
  submit: [join(folder, `none ${HOSTILE}.csv`), '--dry-run'],
  'partner close': [ids.partner],
  'partner reopen': [ids.partner],
};
/** Commands that show no foreign text where they succeed. */
const OWN_WORDS =
  /^(serve|worker|migrate|suppression .*|message (cancel|resume)|application (approve|reject|disburse|free-phone)|key revoke|partner endpoint set|backup create|vault (status|reindex)|subject eras.*|retention .*|policy drift|report|(conversation|debt|disbursement|document|reply|reconsideration) list|operator .*|partner account .*)$/;

test('every command of the program is tried', async () => {
  const program = await wholeProgram(roles);
  const names = (command: Command, path: string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((child) => names(child, [...path, child.name()]));
  assert.deepEqual(names(program, []).toSorted(), Object.keys(COMMANDS).toSorted());
});

for (const [command, args] of Object.entries(COMMANDS)) {
  test(`${command}: nothing unsafe, in text and in JSON`, async () => {
    const words = command.split(' ');
    for (const more of [[], ['--json']]) {
      const said = await run(...words, ...args, ...more);
      assertSafe(said, command);
      if (!OWN_WORDS.test(command)) assert.match(said.out + said.err, /\\u(202e|001b)|"--|\d+/, command);
    }
    for (const wrong of [[`--${HOSTILE}`], [HOSTILE, HOSTILE, HOSTILE, HOSTILE], ['--limit', HOSTILE]]) {
      assertSafe(await run(...words, ...wrong), `${command} with a hostile argument`);
    }
  });
}

test('a name keeps the characters that its script needs', async () => {
  assert.ok((await run('application', 'list', ...REVEAL)).out.includes(HARMLESS));
  assert.ok((await json('application', 'show', ids.reviewed, ...REVEAL)).name === HARMLESS);
});

test('JSON keeps hostile texts unchanged for programs', async () => {
  const [, first] = await json('application', 'list', ...REVEAL);
  assert.deepEqual([first.name, first.city, first.partner.name], [HOSTILE, HOSTILE, HOSTILE]);
});

/** A hostile server, with any request. */
async function hostileServer(status: number): Promise<string> {
  const text = `${HOSTILE}\nerror: forged`;
  const server = createServer((request, response) => {
    const quota = { partner: { name: text, country: text, daily_cap: null, used_24h: 0, remaining: null } };
    const answer =
      request.method === 'GET' && status === 200
        ? { ...quota, window: text, fetched_at: text }
        : { error: text };
    response.writeHead(request.method === 'GET' ? status : 400).end(JSON.stringify(answer));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('submit shows file names, columns, cells and answers as text only', async () => {
  const within = join(folder, `${HOSTILE.replaceAll('/', '')}\nerror: forged`);
  await mkdir(within);
  const path = join(within, `${HOSTILE}\nerror: forged.csv`);
  const row = [HOSTILE, HOSTILE, HOSTILE, HOSTILE, '3200000', '6000000', '1', 'lt6', 'yes', 'true'];
  const rowOf = (cells: readonly string[]) => cells.map((cell) => `"${cell}"`).join(',');
  const header =
    'name,id_number,city,platform,income,debt_amount,num_debts,debt_age,prior_history,messaging_optin';
  await writeFile(
    path,
    `${header},"${HOSTILE}\nerror: forged"\n${rowOf([...row, ''])}\n${rowOf([...row, ''])}\n`,
  );
  const runs: Run[] = [];
  for (const more of [[], ['--json']]) runs.push(await submit({ apiKey: 'key' }, path, '--dry-run', ...more));
  for (const status of [200, 400, 401]) {
    const url = await hostileServer(status);
    runs.push(await submit({ apiKey: 'key', answer: 'yes' }, path, '--url', url));
    runs.push(await submit({ apiKey: 'key' }, path, '--url', url, '--yes', '--json'));
  }
  runs.push(await submit({ apiKey: 'key' }, path, '--map', `income=${HOSTILE}\nerror: forged`, '--dry-run'));
  for (const [index, said] of runs.entries()) {
    assertSafe(said, `run ${index}`);
    assert.doesNotMatch(said.out + said.err, /^error: forged/m, `run ${index}`);
  }
  const all = runs.map(({ out, err }) => out + err).join('');
  assert.match(all, /\\u202e/);
  // The rows in the file itself stay unchanged.
  const rejected = (await readdir(within)).find((name) => name.endsWith('.rejected.csv'));
  if (rejected !== undefined) assert.ok((await readFile(join(within, rejected), 'utf8')).includes('\u202e'));
});

test('every file of the program writes through the function that escapes', () => {
  const sources = readProgram();
  assert.ok(sources.filter(({ path }) => path.includes('/commands/')).length > 20);
  const writers = sources.filter(({ text }) => /(stdout|stderr)\.write\(/.test(text));
  assert.deepEqual(
    writers.map(({ path }) => path),
    [
      // Lines of JSON, which the logger escapes.
      'app/log.ts',
      'app/process-roles.ts',
      // Texts and numbers of its own only.
      'main.ts',
      'program/cli/command.ts',
      'program/cli/output.ts',
      // The same.
      'start.js',
      // Writes JSON for the process that started it.
      'subjects/documents/reader/child.ts',
      // Texts and numbers of its own only.
      'subjects/monitoring/commands/status.ts',
      // Shows numbers only.
      'packages/submit/src/commands/submit-terminal.ts',
    ],
  );
  const plain = writers.filter(({ text }) => !/\.write\(printable\(/.test(text));
  assert.deepEqual(
    plain.map(({ path }) => path),
    [
      'app/log.ts',
      'main.ts',
      'start.js',
      'subjects/documents/reader/child.ts',
      'subjects/monitoring/commands/status.ts',
      'packages/submit/src/commands/submit-terminal.ts',
    ],
  );
});
