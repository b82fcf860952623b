/** `ventanilla event list` (D41). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPartnerId } from '../../../src/domain/partner/credential.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { eventIdOf } from '../../../src/seal/event-ids.ts';
import { commandLine } from '../../cli/harness.ts';
import { applicant, IN_REVIEW } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const register = await registrarOf(store);

let serial = 3_150_000_000;
async function newPartner(name: string): Promise<{ partner: string; id: string }> {
  const { id: partner } = await json('partner', 'add', '--name', name, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const [id] = await register(key, [applicant({ phone: toPhone(`+57${++serial}`), ...IN_REVIEW })]);
  return { partner: `${partner}`, id: `${id}` };
}
const acme = await newPartner('Acme');
const bolt = await newPartner('Bolt');
await json('application', 'approve', acme.id, '--reason', 'fine', '--reason-code', 'income_verified');
await json('application', 'disburse', acme.id, '--reason', 'paid');
await json('application', 'reject', bolt.id, '--reason', 'no');

test('D41: event list shows the events of a partner, newest first, without personal data', async () => {
  const events = await json('event', 'list', '--partner', acme.partner);
  const [disbursed, approved] = events;
  assert.equal(events.length, 2);
  assert.match(approved.timestamp, /\+00:00$/);
  assert.deepEqual(approved, {
    id: eventIdOf(store.vault, toPartnerId(Number(acme.partner)), 1),
    type: 'application.status_changed',
    timestamp: approved.timestamp,
    application: Number(acme.id),
    from: 'in_review',
    to: 'pending_signature',
    reason_code: 'income_verified',
    message: null,
  });
  assert.deepEqual([disbursed.to, disbursed.reason_code], ['disbursed', 'unspecified']);
  const { out } = await run('event', 'list', '--partner', acme.partner);
  assert.match(
    out,
    /^ID +AT +APPLICATION +TYPE +WHAT\nevt_[\w-]{27} +[\d-]+ [\d:]+Z +\d+ +application\.status_changed +pending_signature to disbursed, unspecified\n/,
  );
  assert.equal((await json('event', 'list', '--partner', bolt.partner)).length, 1);
});

test('D41: each filter of event list narrows the list', async () => {
  const [disbursed, approved] = await json('event', 'list', '--partner', acme.partner);
  const list = async (...args: string[]) =>
    (await json('event', 'list', '--partner', acme.partner, ...args)).map(({ id }: { id: string }) => id);
  assert.deepEqual(await list('--after', approved.id), [disbursed.id]);
  assert.deepEqual(await list('--after', disbursed.id), []);
  assert.deepEqual(await list('--since', '2020-01-01'), [disbursed.id, approved.id]);
  assert.deepEqual(await list('--since', '2999-01-01'), []);
  assert.deepEqual(await list('--application', acme.id), [disbursed.id, approved.id]);
  assert.deepEqual(await list('--application', bolt.id), []);
  assert.deepEqual(await list('--limit', '1'), [disbursed.id]);
});

test('D41: event list goes through any number of events', async () => {
  const many = await newPartner('Many');
  await store.database.query(
    `SELECT add_partner_events('application.interested', array_fill($1::integer, ARRAY[1200]),
      array_fill($2::bigint, ARRAY[1200]), NULL, NULL, NULL, NULL)`,
    [many.partner, many.id],
  );
  const { vault } = store;
  const events: { id: string }[] = await json('event', 'list', '--partner', many.partner);
  const ids = Array.from({ length: 1_200 }, (_, index) =>
    eventIdOf(vault, toPartnerId(Number(many.partner)), 1_200 - index),
  );
  assert.deepEqual(
    events.map(({ id }) => id),
    ids,
  );
  assert.deepEqual(await json('event', 'list', '--partner', many.partner, '--application', '1'), []);
});

for (const [args, code, text] of [
  ['event list', 2, /--partner <id>' not specified/],
  ['event list --partner 99', 1, /no partner 99/],
  ['event list --partner 1 --after evt_x', 1, /not the ID of an event of partner 1/],
  ['event list --partner 1 --since noon', 2, /a day or a time with its offset/],
] as const) {
  test(`wrong use is told: ${args}`, async () => {
    const { code: got, err } = await run(...args.split(' '));
    assert.equal(got, code);
    assert.match(err, text);
  });
}
