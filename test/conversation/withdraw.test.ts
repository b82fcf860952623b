/** A withdrawal from a signed contract that comes by letter, e-mail or call: an operator records it (D46, D47). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { acting } from '../../src/program/operations/acting.ts';
import { startConversation } from '../../src/subjects/conversation/uses/operate.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { beforeStatement } from '../support/before-statement.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { json } = signing;
const { run } = commandLine(store, { DATA_DIR: signing.folder });
const { applicantAt, hear, settle, signed, toTheCode, faults } = await signingChat(store, signing);
type Somebody = Awaited<ReturnType<typeof signed>>;
type Row = { kind: string; facts: Record<string, unknown> };

const withdraw = ({ id }: Somebody, ...options: string[]) =>
  json('contract', 'withdraw', `${id}`, '--as', 'ana', '--reason', 'letter of 3 pages', ...options);
const refused = async ({ id }: Somebody, ...options: string[]) => {
  const { code, err } = await run('contract', 'withdraw', `${id}`, '--reason', 'a letter', ...options);
  assert.equal(code, 1, err);
  return err;
};
const application = ({ id }: Somebody) => json('application', 'show', `${id}`);
const evidenceOf = async ({ id }: Somebody, kind: string): Promise<Row[]> =>
  (await json('contract', 'show', `${id}`)).evidence.filter((row: Row) => row.kind === kind);
const verified = async ({ id }: Somebody) => (await json('contract', 'verify', `${id}`)).verified;
const lastReply = async (somebody: Somebody) => (await somebody.replies()).at(-1)?.text ?? '';
const actsOf = async ({ id }: Somebody) =>
  (
    await database.query(
      "SELECT actor FROM operator_events WHERE act = 'contract withdraw' AND application_id = $1",
      [id],
    )
  ).rows.map(({ actor }) => actor);
const OVERRIDE = ['--override', '--second', 'Luis', '--as', 'ana', '--reason', 'ticket 1'];
const paidOut = async ({ id }: Somebody) => {
  await json('application', 'disburse', `${id}`, ...OVERRIDE);
  await settle();
};
/** The day so many days from today, in Bogotá. */
const day = (days: number) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Bogota' }).format(Date.now() + days * 86_400_000);
/** As if the contract had been signed so many days ago, with its time to withdraw. */
const signedDaysAgo = ({ id }: Somebody, days: number, overSince: number) =>
  database.query(
    `UPDATE application_states SET signed_at = ${shifted('signed_at', "$2 * interval '-1 day'")},
       withdrawable_until = now() - $3 * interval '1 day' WHERE application_id = $1`,
    [id, days, overSince],
  );

describe('D46: contract withdraw', () => {
  it('ends the contract, frees the phone, tells the person and the partner once, and stays proven', async () => {
    const ana = await signed();
    const before = day(0);
    const { received, ...done } = await withdraw(ana);
    assert.ok([before, day(0)].includes(received), received);
    assert.deepEqual(done, {
      ...{ application_id: ana.id, result: 'withdrawn', recorded: true, by: 'operator' },
      ...{ late: false, told: true },
    });
    await settle();
    const { status, history } = await application(ana);
    const { actor, way, reason, reason_code } = history.at(-1);
    assert.deepEqual(
      [status, actor, way, reason, reason_code],
      ['rejected', 'ana', 'command_line', 'letter of 3 pages', 'contract_withdrawn'],
    );
    assert.equal(await ana.place(), 'withdrawn service', String(faults));
    assert.match(await lastReply(ana), /Registramos que te retiras/);
    const [row, ...more] = await evidenceOf(ana, 'withdrawn');
    assert.deepEqual(
      [row?.facts.by, row?.facts.received, row?.facts.late, more],
      ['operator', received, false, []],
    );
    assert.equal(await verified(ana), true);
    assert.deepEqual((await ana.events()).slice(-2), ['conversation.ended signed', 'contract.withdrawn']);
    assert.deepEqual(await actsOf(ana), ['ana']);
    const paid = await run('application', 'disburse', `${ana.id}`, ...OVERRIDE);
    assert.deepEqual(
      [paid.code, (await database.query('SELECT FROM open_phones WHERE application_id = $1', [ana.id])).rows],
      [1, []],
    );
    // Everybody who records it again is told, and nothing is recorded.
    const again = await withdraw(ana);
    assert.deepEqual([again.recorded, again.by], [false, 'operator']);
    assert.deepEqual([(await evidenceOf(ana, 'withdrawn')).length, await actsOf(ana)], [1, ['ana']]);
    assert.equal((await ana.events()).filter((type) => type === 'contract.withdrawn').length, 1);
  });

  it('is refused where nothing is signed: without a contract, and before the signature', async () => {
    const eva = await applicantAt();
    assert.match(await refused(eva), /has no contract/);
    const leo = await applicantAt(APPROVED);
    await toTheCode(leo);
    assert.match(await refused(leo), /is not signed/);
    assert.equal(await leo.place(), 'code service');
  });

  it('is refused where the application is rejected already', async () => {
    const ana = await signed();
    await json('application', 'reject', `${ana.id}`, '--reason', 'x');
    assert.match(await refused(ana), /rejected already/);
  });

  it('is refused by days that cannot be, and by the name of the applicant', async () => {
    const ana = await signed();
    assert.match(await refused(ana, '--received', day(2)), /in the future/);
    assert.match(await refused(ana, '--received', day(-2)), /was signed later/);
    const noDay = await run('contract', 'withdraw', `${ana.id}`, '--reason', 'x', '--received', '2026-02-30');
    assert.match(noDay.err, /YYYY-MM-DD/);
    assert.match(await refused(ana, '--as', 'applicant'), /name/);
    assert.equal(await ana.place(), 'signed service');
  });

  it('takes what came in time after the period, by the day on which it came', async () => {
    const ana = await signed();
    await signedDaysAgo(ana, 10, 3);
    const { result, late } = await withdraw(ana, '--received', day(-5));
    assert.deepEqual([result, late, (await application(ana)).status], ['withdrawn', false, 'rejected']);
  });

  it('counts the last day whole, by the clock of the country, and no day after it', async () => {
    const ana = await signed();
    await signedDaysAgo(ana, 10, 0);
    const [today, yesterday] = [day(0), day(-1)];
    // Bogotá is five hours behind UTC all year.
    await database.query('UPDATE application_states SET withdrawable_until = $2 WHERE application_id = $1', [
      ana.id,
      `${today}T05:00:00Z`,
    ]);
    assert.match(await refused(ana, '--received', today), new RegExp(`ended with ${yesterday}.*--late`));
    const { result, late } = await withdraw(ana, '--received', yesterday);
    assert.deepEqual([result, late], ['withdrawn', false]);
  });

  it('takes what came late with --late alone, and the evidence says so', async () => {
    const ana = await signed();
    await signedDaysAgo(ana, 10, 3);
    assert.match(await refused(ana), /time to withdraw ended .*--late/);
    const { result, late } = await withdraw(ana, '--late');
    assert.deepEqual([result, late], ['withdrawn', true]);
    assert.equal((await evidenceOf(ana, 'withdrawn'))[0]?.facts.late, true);
  });

  it('where the country gives no time, takes it with --late alone', async () => {
    const ana = await signed();
    await database.query(
      'UPDATE application_states SET withdrawable_until = NULL WHERE application_id = $1',
      [ana.id],
    );
    assert.match(await refused(ana), /gives no time to withdraw.*--late/);
    assert.equal((await withdraw(ana, '--late')).result, 'withdrawn');
  });

  it('after the payment is recorded, the application stays disbursed, and an operator has to settle it', async () => {
    const ana = await signed();
    await paidOut(ana);
    const { result, recorded, received } = await withdraw(ana);
    assert.deepEqual([result, recorded], ['paid_out', true]);
    await settle();
    assert.deepEqual([(await application(ana)).status, await ana.place()], ['disbursed', 'signed operator']);
    assert.equal((await ana.row()).state.handedOver, 'withdrawal');
    const [row, ...more] = await evidenceOf(ana, 'withdrawal_asked');
    assert.deepEqual([row?.facts.by, row?.facts.received, more], ['operator', received, []]);
    assert.match(await lastReply(ana), /Registramos que te retiras[\s\S]*Una persona/);
    assert.ok(!(await ana.events()).includes('contract.withdrawn'));
    assert.equal((await withdraw(ana)).recorded, false);
    assert.deepEqual([(await evidenceOf(ana, 'withdrawal_asked')).length, await verified(ana)], [1, true]);
  });

  it('reaches a conversation that an operator holds, because the words were not understood', async () => {
    const ana = await signed();
    await ana.write('RETRACTO Ana Gómez');
    assert.equal(await ana.place(), 'signed operator');
    assert.equal((await withdraw(ana)).told, true);
    await settle();
    assert.equal(await ana.place(), 'withdrawn service');
    assert.match(await lastReply(ana), /Registramos que te retiras/);
  });

  it('says that nobody tells the person in the chat, after its window and after an opt-out from anywhere', async () => {
    const [old, muted, elsewhere] = [await signed(), await signed(), await signed()];
    await database.query(
      "UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1",
      [old.id],
    );
    await muted.write('STOP');
    // After the end no turn hears of an opt-out from anywhere else.
    assert.equal((await run('suppression', 'add', elsewhere.phone)).code, 0);
    for (const somebody of [old, muted, elsewhere]) {
      const { code, out } = await run('contract', 'withdraw', `${somebody.id}`, '--reason', 'a letter');
      assert.deepEqual([code, /The service does not tell the person/.test(out)], [0, true], out);
      assert.equal(await somebody.place(), 'withdrawn service');
    }
  });

  it('reaches a conversation whose chat was deleted', async () => {
    const ana = await signed();
    await database.query('DELETE FROM replies WHERE application_id = $1', [ana.id]);
    await database.query('DELETE FROM conversation_inputs WHERE application_id = $1', [ana.id]);
    await database.query('UPDATE conversations SET is_trimmed = true WHERE application_id = $1', [ana.id]);
    assert.equal((await withdraw(ana)).result, 'withdrawn');
    // What is new is looked at by the upkeep again.
    assert.deepEqual([await ana.place(), (await ana.row()).is_trimmed], ['withdrawn service', false]);
    assert.equal(await verified(ana), true);
  });

  it('reaches a conversation whose state is damaged', async () => {
    const ana = await signed();
    await database.query("UPDATE conversations SET state = '[]' WHERE application_id = $1", [ana.id]);
    assert.equal((await withdraw(ana)).result, 'withdrawn');
    await settle();
    assert.deepEqual([await ana.place(), (await application(ana)).status], ['withdrawn service', 'rejected']);
    assert.equal((await ana.events()).filter((type) => type === 'contract.withdrawn').length, 1);
    assert.equal(await verified(ana), true);
  });

  it('is refused while an input waits that another key has sealed, and leaves nothing', async () => {
    const ana = await signed();
    await hear(await ana.textEvent('hola'));
    const first = (byte: string) =>
      database.query(
        `UPDATE conversation_inputs SET content = '\\x${byte}'::bytea || substring(content FROM 2)
         WHERE application_id = $1 AND turn IS NULL`,
        [ana.id],
      );
    const { rows } = await database.query(
      `SELECT encode(substring(content FROM 1 FOR 1), 'hex') AS byte FROM conversation_inputs
       WHERE application_id = $1 AND turn IS NULL`,
      [ana.id],
    );
    await first('fe');
    assert.match(await refused(ana), /cannot be read now/);
    assert.deepEqual(
      [(await evidenceOf(ana, 'withdrawn')).length, (await application(ana)).status],
      [0, 'pending_signature'],
    );
    await first(rows[0].byte);
    assert.equal((await withdraw(ana)).result, 'withdrawn');
  });

  it('comes after a RETRACTO that waits: the person was first, and the operator is told', async () => {
    const ana = await signed();
    await hear(await ana.textEvent('RETRACTO'));
    const { recorded, by } = await withdraw(ana);
    assert.deepEqual([recorded, by, await actsOf(ana)], [false, 'applicant', []]);
    await settle();
    assert.equal((await application(ana)).history.at(-1).way, 'applicant');
  });

  it('comes after a RETRACTO that waits also where it was paid out: one wish is recorded once', async () => {
    const ana = await signed();
    await paidOut(ana);
    await hear(await ana.textEvent('RETRACTO'));
    const { recorded, by, result } = await withdraw(ana);
    assert.deepEqual([recorded, by, result, await actsOf(ana)], [false, 'applicant', 'paid_out', []]);
    await settle();
    assert.equal((await evidenceOf(ana, 'withdrawal_asked')).length, 1);
    assert.match(await lastReply(ana), /Registramos que te retiras[\s\S]*Una persona/);
  });

  it('tells nobody who has said that the number is wrong, also where these words wait', async () => {
    const ana = await signed();
    await hear(await ana.textEvent('Número equivocado'));
    const { result, told } = await withdraw(ana);
    assert.deepEqual([result, told], ['withdrawn', false]);
    await settle();
    assert.doesNotMatch(await lastReply(ana), /Registramos/);
  });

  it('does not say that the person is told, where the turn answers other words that wait alone', async () => {
    const ana = await signed();
    await paidOut(ana);
    await hear(await ana.textEvent('ASESOR'));
    const { result, told } = await withdraw(ana);
    assert.equal(result, 'paid_out');
    const said = await lastReply(ana);
    assert.match(said, /Una persona/);
    assert.equal(told, /Registramos que te retiras/.test(said));
  });

  it('tells in one reply no contrary of it, where a RETRACTO that came too late waits', async () => {
    const ana = await signed();
    await signedDaysAgo(ana, 10, 3);
    await hear(await ana.textEvent('RETRACTO'));
    const { result, by, told } = await withdraw(ana, '--received', day(-5));
    assert.deepEqual([result, by, told], ['withdrawn', 'operator', true]);
    const said = await lastReply(ana);
    assert.match(said, /Registramos que te retiras/);
    assert.doesNotMatch(said, /ya pasó|Una persona/);
  });

  it('leaves what waits to its turn where it is refused', async () => {
    const ana = await signed();
    await hear(await ana.textEvent('¿Cuándo me pagan?'));
    const before = (await ana.replies()).length;
    assert.match(await refused(ana, '--received', day(2)), /in the future/);
    assert.equal((await ana.replies()).length, before);
    await settle();
    assert.equal((await ana.replies()).length, before + 1);
  });

  it('names today also where the clock was ahead at the signature (D39)', async () => {
    const ana = await signed();
    await signedDaysAgo(ana, -2, -7);
    const today = day(0);
    const { result, received } = await withdraw(ana);
    assert.equal(result, 'withdrawn');
    assert.ok([today, day(0)].includes(received), received);
  });

  it('says of an application that is gone that it is gone, and not that nothing was signed', async () => {
    const ana = await signed();
    await database.query('SELECT erase_conversations($1, $2)', [[ana.id], []]);
    await database.query('DELETE FROM application_states WHERE application_id = $1', [ana.id]);
    assert.match(await refused(ana), /is gone/);
  });

  it('is refused where the person is erased: nobody is left to tell', async () => {
    const ana = await signed();
    await paidOut(ana);
    await database.query('SELECT erase_conversations($1, $2)', [[ana.id], []]);
    assert.match(await refused(ana), /is erased/);
    assert.deepEqual([await evidenceOf(ana, 'withdrawal_asked'), await actsOf(ana)], [[], []]);
  });

  it('of two operators at the same moment one records it, and the other is told', async () => {
    const ana = await signed();
    const both = await Promise.all([withdraw(ana), withdraw(ana)]);
    assert.deepEqual(both.map(({ recorded }) => recorded).toSorted(), [false, true]);
    assert.deepEqual([(await evidenceOf(ana, 'withdrawn')).length, await actsOf(ana)], [1, ['ana']]);
  });

  it('at the same moment as a RETRACTO one of the two is recorded, once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const ana = await signed();
      const event = await ana.textEvent('RETRACTO');
      const [{ recorded, by }] = await Promise.all([withdraw(ana), hear(event).then(settle)]);
      await settle();
      assert.deepEqual([await ana.place(), String(faults)], ['withdrawn service', '']);
      const rows = await evidenceOf(ana, 'withdrawn');
      assert.deepEqual([rows.length, rows[0]?.facts.by ?? 'applicant', recorded], [1, by, by === 'operator']);
      const { history } = await application(ana);
      assert.equal(history.at(-1).way, by === 'operator' ? 'command_line' : 'applicant');
      assert.equal((await ana.events()).filter((type) => type === 'contract.withdrawn').length, 1);
    }
  });
});

it('D46: a conversation that an operator starts while the person signs hides no signature', async () => {
  const ana = await applicantAt(APPROVED);
  await toTheCode(ana);
  let isDone = false;
  const signs = async () => {
    isDone = true;
    await ana.write(signing.codes.last);
  };
  const racing = beforeStatement(sessionsOf(store), 'mark_conversations', signs);
  const start = acting(
    { database: racing, vault: store.vault, clock: machineClock, actor: 'eva' },
    (part) => startConversation({ ...part, terms: async () => null }, toApplicationId(ana.id)),
    () => null,
  );
  await assert.rejects(start, /is signed/);
  assert.deepEqual([isDone, await ana.place()], [true, 'signed service']);
  assert.equal((await withdraw(ana)).result, 'withdrawn');
});

it('D46: a RETRACTO in time after a rejection goes to an operator, and does not hear that it came late', async () => {
  const ana = await signed();
  await json('application', 'reject', `${ana.id}`, '--reason', 'x');
  await ana.write('RETRACTO');
  assert.equal(await ana.place(), 'signed operator');
  assert.equal((await ana.row()).state.handedOver, 'withdrawal');
  const said = await lastReply(ana);
  assert.match(said, /Una persona/);
  assert.doesNotMatch(said, /ya pasó/);
});
