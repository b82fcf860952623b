/** A service is killed while it applies proposals: the next one applies the rest, and each once and whole (D48). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineClock } from '../../src/base/clock.ts';
import { secretsOfDataDir } from '../../src/seal/secrets-file.ts';
import { Vault } from '../../src/seal/vault.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { remac } from '../support/remac.ts';
import { anApplication } from '../support/service.ts';
import { demoKeyOf, newDataDir, query, startService, submit, until } from './support.ts';

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
  const database = {
    query: async (text: string, values?: unknown[]) => ({ rows: await query(dataDir, text, values) }),
  };
  const vault = new Vault(await secretsOfDataDir(dataDir, false, machineClock));
  await remac({ database: database as never, vault });
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
