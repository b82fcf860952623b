/** `subject correct`: what can be corrected, what stays, and who reads what (docs/subject.md, "Correct"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { CORRECTABLE_FIELDS } from '../../src/domain/application/correction.ts';
import { FIELDS } from '../../src/domain/application/fields.ts';
import { type ApplicationId, batchAndPositionOf, toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { idNumberIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { applicationsService } from '../../src/subjects/applications/service.ts';
import { resealEnvelopes } from '../../src/subjects/applications/sql/reseal-envelopes.ts';
import { CORRECTIONS } from '../../src/subjects/applications/sql/tables.ts';
import { correctApplication } from '../../src/subjects/desk/uses/correct.ts';
import { readLive } from '../../src/subjects/policies/sql/policies.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { assertInvariants, tablesWith } from '../support/erased.ts';
import { besideLock } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition } from '../support/old-partitions.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const context = { database, vault, clock: machineClock, actor: 'ana' };

let people = 0;
/** Registers persons of their own in one batch. */
async function persons(...changes: Parameters<typeof applicant>[0][]): Promise<ApplicationId[]> {
  const all = changes.map((change) => {
    people += 1;
    const digits = String(people).padStart(4, '0');
    return applicant({
      ...{ name: `Persona ${digits}X`, id_number: `77${digits}77`, phone: toPhone(`+57300777${digits}`) },
      ...change,
    });
  });
  return (await register(key, all)).map(toApplicationId);
}
const aPerson = async (change = {}) => (await persons(change))[0] as ApplicationId;
const correct = (id: number, field: string, value: string, ...more: string[]) =>
  json(
    'subject',
    'correct',
    '--application',
    `${id}`,
    '--field',
    field,
    '--value',
    value,
    '--reason',
    'ticket 4711',
    ...more,
  );
const shown = (id: number, ...more: string[]) => json('application', 'show', `${id}`, ...more);
const refusal = async (id: number, field: string, value: string) => {
  const { code, err, out } = await run(
    'subject',
    'correct',
    '--application',
    `${id}`,
    '--field',
    field,
    '--value',
    value,
    '--reason',
    'x',
  );
  assert.deepEqual([code, out], [1, '']);
  return err;
};
const corrections = async (id: number) =>
  (
    await database.query(
      'SELECT field, actor, content FROM corrections WHERE application_id = $1 ORDER BY id',
      [id],
    )
  ).rows;
/** Turns a byte of the envelope over, and back at the second call. */
const damage = (id: ApplicationId) =>
  database.query(
    'UPDATE batches SET envelope = set_byte(envelope, 40, 255 - get_byte(envelope, 40)) WHERE id = $1',
    [batchAndPositionOf(id).batchId],
  );
/** What an erasure and a correction lock before they read. */
const lockOf = (id: ApplicationId) =>
  `SELECT FROM batches WHERE id = ${batchAndPositionOf(id).batchId} FOR UPDATE`;
const found = async (idNumber: string) =>
  (await json('application', 'list', '--id-number', idNumber)).map((one: { id: number }) => one.id);

describe('the name, the ID number and the city', () => {
  it('are the corrected ones from then on, and before and after lie sealed with who, why and when', async () => {
    const [id, other] = await persons({ name: 'Ana Gomes' }, { name: 'Eva Otra' });
    const answer = await correct(id!, 'name', '  Ana Gómez ');
    const { correction } = answer;
    assert.deepEqual(answer, {
      ...{ application_id: id, correction, field: 'name', status: 'pending_signature' },
      ...{ decided_with_old_value: false, decision_now: null, signed_contract_stays: false },
    });
    const { name, corrections: told, history } = await shown(id!, ...REVEAL);
    assert.equal(name, 'Ana Gómez');
    const [{ at, ...first }] = told;
    assert.match(at, /\+00:00$/);
    assert.deepEqual(first, {
      ...{ id: correction, field: 'name', actor: 'ana', before: 'Ana Gomes', after: 'Ana Gómez' },
      decided_with_old_value: false,
    });
    const { action, reason, from, to } = history.at(-1);
    assert.deepEqual(
      [action, reason, from, to],
      ['correct', 'name: ticket 4711', 'pending_signature', 'pending_signature'],
    );
    const [act] = (await json('audit', 'list', '--application', `${id}`)).filter(
      ({ act }: { act: string }) => act === 'subject correct',
    );
    assert.deepEqual(
      [act.target, act.reason, act.by],
      [`correction ${correction} of name`, 'ticket 4711', 'ana'],
    );
    assert.equal((await shown(other!, ...REVEAL)).name, 'Eva Otra');
    assert.deepEqual(await tablesWith(store, ['Gomes']), []);
    assert.deepEqual(await tablesWith(store, ['Gómez']), ['envelopes'], 'opened by the test');
    assert.equal((await json('audit', 'verify')).fault ?? null, null);
  });

  it('are masked where nothing is revealed, before and after too', async () => {
    const id = await aPerson({ city: 'Cali' });
    await correct(id, 'city', 'Palmira');
    const { out } = await run('application', 'show', `${id}`);
    assert.match(out, /Corrected +city, .* by ana: \*\*\*, now \*\*\*\n/);
    assert.doesNotMatch(out + JSON.stringify(await shown(id)), /Cali|Palmira/);
  });

  it('a value may come by standard input, and no output has it', async () => {
    const id = await aPerson();
    const { run: runWith } = commandLine(store, {}, 'Berta Nueva\n');
    const { code, out } = await runWith(
      'subject',
      'correct',
      '--application',
      `${id}`,
      '--field',
      'name',
      '--value',
      '-',
      '--reason',
      'x',
    );
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Corrected name of application ${id} `));
    assert.doesNotMatch(out, /Berta/);
    assert.equal((await shown(id, ...REVEAL)).name, 'Berta Nueva');
  });

  it('a corrected ID number is found by the new one alone (D49), in the open segment and in look-up buckets', async () => {
    for (const isClosed of [false, true]) {
      const [id, other] = await persons({ id_number: `55${people}1` }, {});
      const [before, after] = [`55${people - 2}1`, `66${people}9`];
      if (isClosed) await closePartition(database);
      assert.deepEqual(await found(before), [id], `${isClosed}`);
      await correct(id!, 'id_number', `CC ${after}`);
      assert.deepEqual([await found(before), await found(after)], [[], [id]], `${isClosed}`);
      const { id_number, fault } = await shown(id!, ...REVEAL);
      assert.deepEqual([id_number, fault], [`CC ${after}`, null]);
      assert.equal((await shown(other!)).fault, null);
      assert.deepEqual(await tablesWith(store, [toBigint(idNumberIndexOf(vault, before))]), []);
      await assertInvariants(store);
    }
  });

  it('several of one bucket stay apart, and a correction back is found again', async () => {
    const [one, two] = await persons({ id_number: '9090901' }, { id_number: '9090902' });
    await closePartition(database);
    await correct(one!, 'id_number', '9090902');
    assert.deepEqual((await found('9090902')).toSorted(), [one, two]);
    await correct(one!, 'id_number', '9090901');
    assert.deepEqual([await found('9090901'), await found('9090902')], [[one], [two]]);
  });
});

describe('a fact of the score', () => {
  it('is corrected beside the decision, which stays with its value and says so', async () => {
    const id = await aPerson(IN_REVIEW);
    const before = await shown(id);
    const answer = await correct(id, 'income', '4200000');
    assert.deepEqual([answer.decided_with_old_value, answer.status], [true, 'in_review']);
    await correct(id, 'income', '4300000');
    await correct(id, 'prior_history', 'SI');
    const { corrections: told, history: _, ...after } = await shown(id);
    const { corrections: __, history: ___, ...same } = before;
    assert.deepEqual(after, same, 'income, points, score, decision and status are those of the decision');
    assert.deepEqual(
      told.map((one: Record<string, unknown>) => [
        one.field,
        one.before,
        one.after,
        one.decided_with_old_value,
      ]),
      [
        ['income', before.income, 4_200_000, true],
        ['income', 4_200_000, 4_300_000, true],
        ['prior_history', 'no', 'yes', true],
      ],
    );
    const { out } = await run('application', 'show', `${id}`);
    assert.match(out, /Corrected +income, .* by ana: 4200000, now 4300000; decided with the old value\n/);
  });

  it('tells what the live policy would decide with all corrected values', async () => {
    const id = await aPerson(IN_REVIEW);
    const before = await shown(id);
    const { card } = (await readLive(database))!;
    const now = (facts: object) => {
      const { score, decision } = card.decide({ ...before, ...facts });
      return { policy: card.version, score, decision };
    };
    const answer = await correct(id, 'income', '4200000');
    assert.deepEqual(answer.decision_now, now({ income: 4_200_000 }));
    const lent = await correct(id, 'debt_amount', '100000');
    assert.deepEqual(
      lent.decision_now,
      now({ income: 4_200_000, debt_amount: 100_000 }),
      'all corrections count',
    );
    assert.notEqual(lent.decision_now.score, before.score);
    assert.equal((await correct(id, 'city', 'Cali')).decision_now, null);
    const { out } = await run(
      'subject',
      'correct',
      '--application',
      `${id}`,
      '--field',
      'num_debts',
      '--value',
      '1',
      '--reason',
      'x',
    );
    assert.match(
      out,
      /\nWith the corrected values the live policy \S+ would decide (approved|in_review|rejected) \(score \d+\)\.\n/,
    );
  });

  it('the command says what follows for a new decision, by the status', async () => {
    const args = ['--field', 'debt_age', '--value', '6a12', '--reason', 'x'];
    for (const [change, text] of [
      [IN_REVIEW, /The review decides/],
      [REJECTED, /The rejection is final/],
      [{}, /application reject ends it/],
    ] as const) {
      const { out } = await run('subject', 'correct', '--application', `${await aPerson(change)}`, ...args);
      assert.match(out, /made with the old value/);
      assert.match(out, text);
    }
  });
});

describe('what is refused, with nothing stored', () => {
  it('every other field says what to do instead, and an unknown one which there are', async () => {
    const id = await aPerson();
    const others = FIELDS.filter(({ name }) => !CORRECTABLE_FIELDS.some((one) => one === name));
    assert.equal(others.length, 7);
    for (const { name } of others)
      assert.match(await refusal(id, name, 'x'), new RegExp(`${name} cannot be corrected: `));
    assert.match(await refusal(id, 'phone', '+573001112233'), /let the partner send it again/);
    assert.match(await refusal(id, 'nombre', 'x'), /must be one of name, id_number, city/);
    assert.deepEqual(await corrections(id), []);
  });

  it('a value breaks the rules of a registration (D7 to D9)', async () => {
    const id = await aPerson({ prior_history: 'yes' });
    for (const [field, value, rule] of [
      ['name', ' ', /name must not be blank/],
      ['name', 'x'.repeat(201), /name must have at most 200 characters/],
      ['name', 'Ana\u0007', /without control characters/],
      ['id_number', 'x'.repeat(65), /at most 64/],
      ['income', '0', /income must be a number greater than 0/],
      ['income', '1.000.000', /income must be a number/],
      ['num_debts', '4', /num_debts must be one of 1, 2, 3/],
      ['prior_history', 'yes', /prior_history of application \d+ has this value already/],
    ] as const)
      assert.match(await refusal(id, field, value), rule);
    assert.deepEqual(await corrections(id), []);
  });

  it('no application, an erased person and a row that cannot be read stay as they are', async () => {
    const [erased, damaged] = [await aPerson(REJECTED), await aPerson(REJECTED)];
    await json(
      'subject',
      'erase',
      '--phone',
      (await shown(erased, ...REVEAL)).phone,
      '--reason',
      'x',
      '--yes',
    );
    await damage(damaged);
    assert.match(await refusal(999_999_999, 'name', 'x'), /no application 999999999/);
    for (const field of ['name', 'income']) {
      assert.match(await refusal(erased, field, '5'), /its person is erased/);
      assert.match(await refusal(damaged, field, '5'), /cannot be read \(unreadable\)/);
    }
    await damage(damaged);
    for (const id of [erased, damaged]) assert.deepEqual(await corrections(id), []);
  });

  it('an application takes 50 corrections', async () => {
    const id = await aPerson();
    for (let n = 0; n < 50; n += 1)
      await correctApplication(context, id, { field: 'city', value: `Ciudad ${n}`, reason: 'x' });
    assert.match(await refusal(id, 'city', 'una más'), /has 50 corrections/);
  });
});

describe('beside others', () => {
  it('two operators at once correct one after the other, and each record begins where the other ended', async () => {
    const id = await aPerson({ city: 'Cali', name: 'Ana' });
    const all = () =>
      Promise.all([
        correct(id, 'city', 'Palmira'),
        correct(id, 'city', 'Jamundí'),
        correct(id, 'name', 'Eva'),
      ]);
    await besideLock(database, lockOf(id), all, 3);
    const { city, name, corrections: told } = await shown(id, ...REVEAL);
    const cities = told.filter(({ field }: { field: string }) => field === 'city');
    assert.deepEqual([cities[0].before, cities[1].before, cities[1].after], ['Cali', cities[0].after, city]);
    assert.equal(name, 'Eva');
  });

  it('no correction outlives its person, whether it comes before the erasure or waits for it', async () => {
    const id = await aPerson(REJECTED);
    const { phone } = await shown(id, ...REVEAL);
    await correct(id, 'name', 'Quien Era');
    const other = await aPerson();
    const both = () =>
      Promise.all([
        json('subject', 'erase', '--phone', phone, '--reason', 'x', '--yes'),
        run(
          'subject',
          'correct',
          '--application',
          `${id}`,
          '--field',
          'city',
          '--value',
          'Neiva',
          '--reason',
          'x',
        ),
      ]);
    const [, { code, err }] = await besideLock(database, lockOf(id), both, 2);
    // Either came first.
    assert.ok(code === 0 || /its person is erased/.test(err), err);
    assert.deepEqual([await corrections(id), await tablesWith(store, ['Neiva', 'Quien Era'])], [[], []]);
    assert.match(await refusal(id, 'name', 'Otra'), /erased/);
    await correct(other, 'name', 'Sigue');
    assert.equal((await corrections(other)).length, 1);
  });

  it('the export has the corrections with their values', async () => {
    const id = await aPerson({ name: 'Ana Mal' });
    const { phone } = await shown(id, ...REVEAL);
    await correct(id, 'name', 'Ana Bien');
    const { applications } = await json('subject', 'export', '--phone', phone, ...REVEAL);
    const [{ name, corrections: told }] = applications;
    assert.deepEqual([name, told[0].before, told[0].after], ['Ana Bien', 'Ana Mal', 'Ana Bien']);
  });

  it('a reseal seals the corrected envelope and the corrections again', async () => {
    const id = await aPerson({ name: 'Ana Mal' });
    await correct(id, 'name', 'Ana Sellada');
    const newer = createHash('sha256').update('newer').digest();
    const next = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[9, newer], ...TEST_SECRETS.dataKeys]) });
    const both = await sealedRows(CORRECTIONS).reseal(store.runtime, next, '');
    assert.ok(both.resealed > 0 && both.unopened === 0);
    for (let from: string | null = ''; from !== null; )
      from = (await resealEnvelopes(database, next, from)).next;
    const { json: later } = commandLine({ ...store, vault: next });
    const { name, corrections: told } = await later('application', 'show', `${id}`, ...REVEAL);
    assert.deepEqual([name, told[0].before], ['Ana Sellada', 'Ana Mal']);
    const back = new Vault({ ...TEST_SECRETS, dataKeys: new Map([...TEST_SECRETS.dataKeys, [9, newer]]) });
    await sealedRows(CORRECTIONS).reseal(store.runtime, back, '');
    for (let from: string | null = ''; from !== null; )
      from = (await resealEnvelopes(database, back, from)).next;
  });

  it('the upkeep deletes corrections whose application is gone', async () => {
    const id = await aPerson();
    await correct(id, 'name', 'Ana');
    await database.query('UPDATE corrections SET application_id = $2 WHERE application_id = $1', [
      id,
      id + 128 * 4_000,
    ]);
    const job = applicationsService().upkeep?.find(({ name }) => name === 'forget corrections');
    await job?.run({ database } as never);
    assert.deepEqual([await corrections(id), await corrections(id + 128 * 4_000)], [[], []]);
  });
});
