/**
 * A store with rows in every table: what two applicants, two operators, the upkeep and the channel leave behind.
 * What takes days, or a second machine, is put there by a statement. Call this at the top of a test file.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { noteRoutes } from '../../src/subjects/desk/routes/notes.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { finishContract } from '../../src/subjects/signing/uses/finish-contract.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition } from '../support/old-partitions.ts';
import { proposalDesk } from '../support/proposals.ts';
import { addEvents, setEndpoint } from '../support/pushes.ts';
import { wholeChat } from '../support/whole-chat.ts';

/** What no way of a test leaves behind. */
const STATEMENTS = [
  // The upkeep makes partitions ahead; the store is restored with as many.
  'SELECT make_batch_partitions()',
  `INSERT INTO usage_counted (partner_id, second, count, stored_ms) VALUES (1, date_trunc('second', now()), 3, 0)`,
  `INSERT INTO usage_totals (partner_id, total) VALUES (1, 3) ON CONFLICT (partner_id) DO UPDATE SET total = 3`,
  `SELECT add_key_outcomes('{1}', '{5}', '{1}', '{2}', '{3}', '{1}', '{1}', '{0}')`,
  `SELECT note_requests('{1}', '{0198f0a0-0000-7000-8000-000000000001}', '{1}', '{0}', '{POST}', '{/PRO}', '{200}', '{9}', '{NULL}',
    '{f}', '{1}', '{0}', '{0}', '{0}', '{0}', '{NULL}', '{1}')`,
  `INSERT INTO push_attempts (partner_id, at, number, attempt, result, failure, stored_ms)
   VALUES (1, now(), 1, 1, 'failed', 'timeout', 0)`,
  `INSERT INTO leases (begun_at, lost_at, ids, types, attempts) SELECT now(), 'infinity', ARRAY[message_id], 'o', '{1}'
   FROM message_records ORDER BY message_id LIMIT 1`,
  `INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES (17, now(), 128, 1, false)`,
  `INSERT INTO paused_templates (name, reason) VALUES ('offer_es', 'rejected')`,
  `INSERT INTO early_events (channel_message_id, status, at, came_ms) VALUES (18, 'read', now(), 0)`,
  `INSERT INTO channel_users (user_index, phone_index, heard_ms) VALUES (19, 20, 0)`,
  `INSERT INTO income_steps (application_id, session, elapsed_ms) VALUES (1, '\\x01', 0)`,
  `INSERT INTO document_removals (file_key, due_ms) VALUES ('gone', 0)`,
  `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, leased_until)
   SELECT id, application_id, partner_id, 'check_income', 'infinity' FROM conversations ORDER BY id LIMIT 1`,
  `INSERT INTO operator_pending_sign_ins (id, purpose) VALUES ('\\x01', 'sign in')`,
  `INSERT INTO operator_tries (name, since, tries) VALUES ('\\x01', now(), 1)`,
  `INSERT INTO selections (id, operator_id, ends_at, ids, last_events)
   VALUES ('0198f0a0-0000-7000-8000-000000000001', 1, now() + interval '10 minutes', '{1}', '{0}')`,
  `INSERT INTO reseals (key_id, kind, step_from, next_at, started_at, finished_at) VALUES (1, 'done', '', now(), now(), now())`,
  `INSERT INTO reindexes (from_key, to_key, kind, step_from) VALUES (gen_random_uuid(), gen_random_uuid(), 'batches', '0')`,
  `SELECT note_upkeep(ARRAY['make partitions'], ARRAY[2], ARRAY[true], ARRAY[NULL])`,
  `INSERT INTO message_count_hours (hour, status, count) VALUES (date_trunc('hour', now()), 'sent', 4)`,
  `INSERT INTO troubles (code, text, began_at) VALUES ('pushes_late', 'x', now())`,
  `INSERT INTO step_medians (step, bucket) VALUES ('sign', 40)`,
  `INSERT INTO secret_checks (name, value, confirmed) VALUES ('made_up', gen_random_uuid(), true)`,
];

export async function fillStore() {
  const whole = await wholeChat();
  const { database, runtime, json, keyId, partnerId, signing, pdfEvent, statement } = whole;
  await database.query("UPDATE partners SET name = 'First' WHERE id = $1", [partnerId]);

  // From the tap to the signature.
  const chat = await whole.over(runtime);
  const ana = await chat.ana();
  const send = async (...events: ChannelEvent[]) => {
    await chat.hear(...events);
    for (let times = 0; times < 2; times += 1) {
      await chat.skipPause();
      await chat.settle();
    }
  };
  const tap = async () => send(await ana.tapEvent((await ana.replies()).at(-1)?.buttons[0]?.payload));
  const sendFiles = async (...files: Buffer[]) =>
    send(...(await Promise.all(files.map((bytes) => pdfEvent(ana, bytes)))));
  await send(await ana.tapEvent());
  await tap();
  await sendFiles(statement(), statement());
  await tap();
  await sendFiles(statement());
  for (let steps = 0; steps < 3; steps += 1) await tap();
  await send(await ana.textEvent(await signing.lastFourOf(toApplicationId(ana.id))));
  await send(await ana.textEvent(signing.codes.last));
  assert.equal(await ana.place(), 'signed service', String(chat.faults));
  await finishContract(signing.context, toApplicationId(ana.id));
  const bo = await chat.ana({ name: 'Bo' });
  await bo.tap();

  // At the desk.
  const desk = await proposalDesk(whole, {
    lookShare: 1,
    more: (context) => [
      ...queueRoutes({ ...context, dueHours: 24, terms: async () => null }),
      ...pendRoutes({ ...context, dueHours: 24, terms: async () => null }),
      ...noteRoutes(context),
    ],
  });
  const ruth = await desk.operator('ruth');
  const [decided, open, pended, claimed] = (await desk.register(6)) as number[];
  const asked = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const { status, body: answer } = await ruth.visitor.ask('POST', path, body, headers);
    assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`);
  };
  await desk.proposed(ruth.visitor, decided!);
  await desk.applyAll();
  await desk.proposed(ruth.visitor, open!, undefined, { 'Idempotency-Key': randomUUID() });
  await asked(
    `/api/applications/${pended}/pend`,
    { missing: ['explanation'], message: null, hours: 48 },
    { 'If-Match': `"${await desk.lastEvent(pended!)}"` },
  );
  await asked(`/api/applications/${claimed}/notes`, { text: 'a note' });
  await asked(`/api/applications/${claimed}/claim`, {}, { 'Operator-Page': randomUUID() });
  await asked('/api/review-queue/leave', {}, { 'Operator-Page': randomUUID() });

  // What partners, operators and time do besides.
  await desk.json('suppression', 'add', '+573001110000');
  await setEndpoint(whole, partnerId as PartnerId, { url: 'https://partner.example/events', host: 'none' });
  await addEvents(whole, partnerId as PartnerId, [ana.id, bo.id]);
  const register = await registrarOf(whole);
  const rejected = (phone: string) => register(keyId, [applicant({ phone: toPhone(phone), ...REJECTED })]);
  await rejected('+573001110001');
  await json('subject', 'erase', '--phone', '+573001110001', '--reason', 'ticket 1', '--close', '--yes');
  await closePartition(database);
  await rejected('+573001110002');
  const faults: string[] = [];
  for (const text of STATEMENTS)
    await database.query(text).catch((error) => faults.push(`${text}: ${error.message}`));
  assert.deepEqual(faults, []);
  return whole;
}
