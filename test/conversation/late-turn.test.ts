/** What a person sent in time counts as in time, also where the service comes to it later (D46). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { applicantAt, person, hear, settle, signed } = await signingChat(store, signing);
type Somebody = Awaited<ReturnType<typeof signed>>;

/** The time to withdraw is over since `seconds` ago. On a cluster an UPDATE calls no clock. */
async function over({ id }: Somebody, seconds: number): Promise<void> {
  const until = new Date(Date.now() - seconds * 1_000);
  await database.query('UPDATE application_states SET withdrawable_until = $2 WHERE application_id = $1', [
    id,
    until,
  ]);
  await database.query(
    `UPDATE conversations SET state = state || jsonb_build_object('withdrawableUntilMs', $2::bigint)
     WHERE application_id = $1`,
    [id, until.getTime()],
  );
}

const writes = async (somebody: Somebody, secondsAgo: number) =>
  somebody.textEvent('RETRACTO', new Date(Date.now() - secondsAgo * 1_000));

it('D46: a withdrawal that was sent in time ends the contract, also where its turn comes after the period', async () => {
  const ana = await signed();
  await hear(await writes(ana, 120));
  await over(ana, 60);
  await settle();
  assert.equal(await ana.place(), 'withdrawn service');
  const {
    status,
    history,
    withdrawable_until: until,
  } = await signing.json('application', 'show', `${ana.id}`);
  assert.deepEqual([status, history.at(-1).reason_code], ['rejected', 'contract_withdrawn']);
  const { evidence } = await signing.json('contract', 'show', `${ana.id}`);
  const row = evidence.find(({ kind }: { kind: string }) => kind === 'withdrawn');
  assert.ok(Date.parse(row.happened_at) < Date.parse(until), 'the evidence has the time of the message');
});

it('D46: a withdrawal that was sent after the period goes to an operator', async () => {
  const eva = await signed();
  await over(eva, 60);
  await hear(await writes(eva, 30));
  await settle();
  assert.equal(await eva.place(), 'signed operator');
  assert.equal((await eva.row()).state.handedOver, 'withdrawal');
});

it('D46: a withdrawal that was sent in time goes to an operator where the money was paid out meanwhile', async () => {
  const leo = await signed();
  await hear(await writes(leo, 120));
  await over(leo, 60);
  const lines = await signing.lineOptions(leo.id);
  const paid = await signing.json('application', 'disburse', `${leo.id}`, '--reason', 'paid', ...lines);
  assert.equal(paid.status, 'disbursed');
  await settle();
  assert.equal(await leo.place(), 'signed operator');
  const said = (await leo.replies()).at(-1)!.text;
  assert.ok(!said.includes('ya pasó'), said);
});

for (const [sentAgo, places] of [
  [120, ['signed operator', 'data_consent service']],
  [30, ['signed service', 'withdrawn service']],
] as const) {
  it(`D46: with a minute after the period, a withdrawal of ${sentAgo} s ago is of the right conversation`, async () => {
    const ana = await signed();
    const override = ['--override', '--second', 'Luis', '--as', 'ana', '--reason', 'ticket 1'];
    await signing.json('application', 'disburse', `${ana.id}`, ...override);
    await settle();
    const next = await applicantAt({ ...APPROVED, phone: ana.phone });
    const again = person(next.id, ana.phone);
    await again.tap();
    await over(ana, 60);
    await hear(await writes(ana, sentAgo));
    await settle();
    assert.deepEqual([await ana.place(), await again.place()], places);
  });
}
