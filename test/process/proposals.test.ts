/** A service is killed before or while it applies proposals: the next one applies each once and whole (D48). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Session } from '../../src/ground/postgres/database.ts';
import { secretsOfDataDir } from '../../src/seal/secrets-file.ts';
import { Vault } from '../../src/seal/vault.ts';
import { enrol, lockAccount, setFactors } from '../../src/subjects/operators/sql/factors.ts';
import { startSession } from '../../src/subjects/operators/sql/sessions.ts';
import { newSession } from '../../src/subjects/operators/uses/tokens.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { Visitor } from '../support/console.ts';
import { remac } from '../support/remac.ts';
import { anApplication } from '../support/service.ts';
import {
  demoKeyOf,
  newDataDir,
  query,
  type ServiceProcess,
  startService,
  submit,
  until,
  ventanillaJson,
} from './support.ts';

const COUNT = 400;

test('a killed service loses no proposal, and applies none twice', async () => {
  const dataDir = newDataDir();
  const first = await startService(dataDir);
  const apiKey = demoKeyOf(first);
  for (let sent = 0; sent < COUNT; sent += 100) {
    const some = Array.from({ length: 100 }, () => anApplication(IN_REVIEW));
    assert.equal((await submit(first, apiKey, some)).status, 200);
  }
  await until('the queue', async () => {
    const [{ count }] = await query(dataDir, 'SELECT count(*)::integer AS count FROM review_items');
    return count === COUNT;
  });
  // What operators have proposed: its time to undo is over, so the service begins at once.
  await query(dataDir, MAKER);
  await query(dataDir, PROPOSED);
  const { session, vault } = await storeOf(dataDir);
  await remac({ database: session as never, vault });
  await query(dataDir, 'UPDATE open_proposals SET due_at = now()');
  const applied = async () =>
    (await query(dataDir, "SELECT count(*)::integer AS count FROM proposals WHERE state = 'applied'"))[0]
      .count;
  await until('some to be applied', async () => (await applied()) > COUNT / 10);
  await first.kill();
  assert.ok((await applied()) < COUNT, 'the kill came in the middle');

  const second = await startService(dataDir);
  await until('all to be applied', async () => (await applied()) === COUNT);
  const [whole] = await query(dataDir, WHOLE);
  assert.deepEqual(whole, { moved: COUNT, reviews: COUNT, events: COUNT, acts: COUNT, open: 0, items: 0 });
  assert.equal((await second.stop()).code, 0);
});

test('what an operator proposed outlives a kill within the time to undo, and what was undone stays undone', async () => {
  const dataDir = newDataDir();
  const begun = await startService(dataDir, { UNDO_SECONDS: '600' });
  const { body: registered } = await submit(begun, demoKeyOf(begun), [
    anApplication(IN_REVIEW),
    anApplication(IN_REVIEW),
  ]);
  const [kept, undone] = registered.results.map(({ id }: { id: number }) => id);
  const ana = await signedIn(begun);
  /** Again after a 500, which a busy machine may cause: each of these requests counts once. */
  const asks = (visitor: Visitor, path: string, body: object, headers = {}) =>
    until('an answer other than 500', async () => {
      const answer = await visitor.ask('POST', path, body, headers);
      return answer.status !== 500 && answer;
    });
  const propose = (visitor: Visitor, id: number) =>
    asks(
      visitor,
      `/api/applications/${id}/proposals`,
      { act: 'approve', reason: 'fine' },
      { 'If-Match': '"0"', 'Idempotency-Key': `decision on ${id}` },
    );
  const [first, other] = [await propose(ana, kept), await propose(ana, undone)];
  assert.deepEqual([first.status, other.status], [200, 200]);
  const takenBack = await asks(ana, `/api/proposals/${other.body.id}/undo`, {});
  assert.equal(takenBack.body.state, 'undone');
  await begun.kill();

  const again = await startService(dataDir, { UNDO_SECONDS: '600' });
  const returned = new Visitor(consoleOf(again));
  returned.cookie = ana.cookie;
  const repeated = await propose(returned, kept);
  assert.deepEqual([repeated.body.id, repeated.body.state], [first.body.id, 'proposed']);
  // The time to undo is over.
  const { session, vault } = await storeOf(dataDir);
  await query(dataDir, 'UPDATE proposals SET apply_at = now() WHERE id = $1', [first.body.id]);
  await remac({ database: session as never, vault });
  await query(dataDir, 'UPDATE open_proposals SET due_at = now()');
  await until('the application', async () => (await propose(returned, kept)).body.state === 'applied');
  assert.deepEqual(await query(dataDir, TRACES, [kept]), [
    { states: ['applied'], moves: ['approve'], events: 1, acts: ['application approve'], open: 0 },
  ]);
  assert.deepEqual(await query(dataDir, TRACES, [undone]), [
    { states: ['undone'], moves: [], events: 0, acts: [], open: 0 },
  ]);
  assert.equal((await again.stop()).code, 0);
});

const consoleOf = ({ out }: ServiceProcess): string => {
  const [, url] = /Console\s+(\S+)/.exec(out) ?? [];
  assert.ok(url, out);
  return new URL(url).origin;
};

/** The store of a service, for functions that send one statement after the other. */
async function storeOf(dataDir: string): Promise<{ session: Session; vault: Vault }> {
  const session = {
    query: async (text: string, values?: unknown[]) => ({ rows: await query(dataDir, text, values) }),
  };
  const vault = new Vault(await secretsOfDataDir(dataDir, false, machineClock));
  return { session: session as never, vault };
}

/** A reviewer with both factors, who is signed in. */
async function signedIn(service: ServiceProcess): Promise<Visitor> {
  const { dataDir } = service;
  const role = ['--role', 'reviewer', '--authority', 'COP=99999999999'];
  const { id } = await ventanillaJson(dataDir, 'operator', 'add', '--login', 'ana', ...role);
  const { session, vault } = await storeOf(dataDir);
  const account = async () => (await lockAccount(session, vault, id))!;
  const factors = { password: 'no hash', totp: Buffer.alloc(20) };
  const made = await setFactors(session, vault, await account(), factors);
  await enrol(session, vault, made, { totpStep: 0, recoveryCodes: [] });
  const { cookie, key } = newSession();
  await startSession(session, vault, key, { account: await account(), isWhole: true });
  const visitor = new Visitor(consoleOf(service));
  visitor.cookie = `ventanilla=${cookie}`;
  return visitor;
}

const TRACES = `
  SELECT ARRAY(SELECT p.state FROM proposals p WHERE p.application_id = $1) AS states,
    ARRAY(SELECT e.action FROM application_events e WHERE e.application_id = $1) AS moves,
    (SELECT count(*)::integer FROM partner_events e WHERE e.application_id = $1) AS events,
    ARRAY(SELECT e.act FROM operator_events e WHERE e.application_id = $1) AS acts,
    (SELECT count(*)::integer FROM open_proposals o WHERE o.application_id = $1) AS open`;

const MAKER = `INSERT INTO operators (login, role, enrolled_at, authority)
  VALUES ('ana', 'reviewer', now(), '{"COP": "99999999999999"}')`;
const PROPOSED = `
  WITH made AS (
    INSERT INTO proposals (application_id, act, reason_code, reason, is_override, maker_id, decided_on, created_at, apply_at)
    SELECT i.application_id, 'approve', 'unspecified', 'fine', false, m.id, 0, now() - interval '11 seconds',
      now() - interval '1 second'
    FROM review_items i, operators m WHERE m.login = 'ana' RETURNING id, application_id
  )
  INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
  SELECT application_id, id, now(), now() + interval '1 hour', false FROM made`;

const WHOLE = `
  SELECT (SELECT count(*)::integer FROM application_states WHERE status = 'pending_signature') AS moved,
    (SELECT count(*)::integer FROM application_events WHERE action = 'approve') AS reviews,
    (SELECT count(*)::integer FROM partner_events WHERE type = 'application.status_changed') AS events,
    (SELECT count(*)::integer FROM operator_events WHERE act = 'application approve') AS acts,
    (SELECT count(*)::integer FROM open_proposals) AS open,
    (SELECT count(*)::integer FROM review_items) AS items`;
