/** Payments of signed contracts: their lines, what refuses them, and what they leave behind (D45, D46). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { addDays, localDate } from '../../src/domain/loan/local-day.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { payOutNow } from '../../src/subjects/conversation/uses/signed/pay-out.ts';
import type { Payment } from '../../src/subjects/signing/uses/disburse.ts';
import { withProofs } from '../../src/subjects/signing/uses/keep-proof.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { ANA } from '../documents/support.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { TERMS } from '../support/terms.ts';

const store = await testDatabase();
const signing = await testSigning(store);
const { run, json, beginWithoutDebts: begin, sign, folder, context } = signing;
const { database } = store;

const ZONE = TERMS.countries.CO.zone;
const { rows } = await database.query<{ now: Date }>('SELECT now()');
const today = localDate(rows[0]!.now, ZONE);
const OVERRIDE = ['--override', '--second', 'Luis', '--as', 'ana'];

/** A signed contract; `isOver`: the time to withdraw is over. */
async function signed(isOver = true): Promise<{ id: ApplicationId; net: string }> {
  const id = await begin();
  await sign(id);
  if (isOver)
    await database.query(
      "UPDATE application_states SET withdrawable_until = now() - interval '1 day' WHERE application_id = $1",
      [id],
    );
  const { offer } = await json('contract', 'show', `${id}`);
  return { id, net: offer.net };
}

interface Typed {
  readonly payee?: string;
  readonly amount: string;
  readonly reference?: string;
  readonly day?: string;
  readonly more?: string;
}
const line = ({ payee = 'applicant', amount, reference = 'TR-4711', day = today, more = '' }: Typed) =>
  `payee=${payee};amount=${amount};reference=${reference};value-date=${day}${more}`;
const lineOptions = (lines: readonly string[]) => lines.flatMap((one) => ['--line', one]);
const pay = (id: number, lines: readonly string[], ...more: string[]) =>
  run('application', 'disburse', `${id}`, '--reason', 'paid', ...lineOptions(lines), ...more);
const statusOf = async (id: number) => (await json('application', 'show', `${id}`)).status;
const linesOf = (id: number) => json('disbursement', 'list', `${id}`);
const kindsOf = async (id: number): Promise<string[]> =>
  (await json('contract', 'show', `${id}`)).evidence.map(({ kind }: { kind: string }) => kind);
const verified = async (id: ApplicationId) =>
  Object.fromEntries((await verifyContract(context, id))!.checks.map(({ name, fault }) => [name, fault]));

/** Nothing of a refused payment stays. */
async function requireUnpaid(id: number): Promise<void> {
  assert.equal(await statusOf(id), 'pending_signature');
  assert.deepEqual(await linesOf(id), []);
  assert.ok(!(await kindsOf(id)).includes('disbursed'));
}

describe('a payment of a signed contract (D46)', () => {
  it('by the list of the contract is paid out with its lines, its evidence and the record of the act', async () => {
    const { id, net } = await signed();
    const done = await pay(id, [line({ amount: net })]);
    assert.equal(done.code, 0, done.err);
    assert.equal(await statusOf(id), 'disbursed');
    const [row, ...others] = await linesOf(id);
    assert.equal(others.length, 0);
    const { recorded_at, ...rest } = row;
    assert.deepEqual(rest, {
      ...{ number: 1, kind: 'paid', returned: null, payee: 'applicant', amount: net, currency: 'COP' },
      ...{ reference: 'TR-4711', value_date: today, proof_sha256: null, recorded_by: 'ana', second: null },
    });
    assert.deepEqual((await kindsOf(id)).slice(-2), ['disbursed', 'disbursement_line']);
    assert.equal((await verified(id)).payment, null);
    const [, act] = await json('audit', 'list', '--application', `${id}`);
    assert.equal(act.act, 'application disburse');
  });

  it('takes one that is typed in two lines of the same payee, and one from standard input', async () => {
    const { id, net } = await signed();
    const [half, rest] = [Math.floor(Number(net) / 2), Math.ceil(Number(net) / 2)];
    const both = [
      line({ amount: `${half}`, reference: 'A' }),
      line({ payee: ' Applicant ', amount: `${rest}`, reference: 'B', more: ';currency=cop' }),
    ];
    assert.equal((await pay(id, both)).code, 0);
    assert.deepEqual(
      (await linesOf(id)).map(({ number }: { number: number }) => number),
      [1, 2],
    );
  });

  describe('is refused, and nothing of it stays', () => {
    const off = (net: string, by: number) => `${Number(net) + by}`;
    for (const [what, linesFor, fault] of [
      ['without lines', () => [], /say with --line what was paid to whom/],
      [
        'a peso below',
        (net) => [line({ amount: off(net, -1) })],
        /differ from the contract's list: 1 of its 1/,
      ],
      ['a peso above', (net) => [line({ amount: off(net, 1) })], /differ from the contract's list/],
      [
        'to a payee that is not in the list',
        (net) => [line({ payee: 'Banco Uno', amount: net })],
        /1 of the payees not in it, 1 of its 1/,
      ],
      [
        'more than once',
        (net) => [line({ amount: net }), line({ amount: net, reference: 'B' })],
        /another sum/,
      ],
    ] as const satisfies readonly (readonly [string, (net: string) => string[], RegExp])[])
      it(`${what}, unless two operators override it`, async () => {
        const { id, net } = await signed();
        const refused = await pay(id, linesFor(net));
        assert.equal(refused.code, 1);
        assert.match(refused.err, fault);
        assert.match(refused.err, /add --override and --second/);
        assert.ok(
          !refused.err.includes(net) && !refused.err.includes('Banco'),
          'the refusal has no value of it',
        );
        await requireUnpaid(id);
        assert.equal((await pay(id, linesFor(net), '--override')).code, 2, 'one operator is not enough');
        assert.match(
          (await pay(id, linesFor(net), '--override', '--second', 'ANA')).err,
          /another one than ana/,
        );
        await requireUnpaid(id);
        assert.equal((await pay(id, linesFor(net), ...OVERRIDE)).code, 0);
        assert.equal(await statusOf(id), 'disbursed');
        assert.equal((await verified(id)).payment, null);
      });

    it('with a line of a wrong form, whoever overrides it', async () => {
      const { id, net } = await signed();
      const ahead = (days: number) => line({ amount: net, day: addDays(today, days) });
      for (const [lines, fault] of [
        [[line({ amount: net }), line({ amount: net })], /line 2 repeats line 1/],
        [[line({ amount: net, more: ';currency=USD' })], /line 1: currency must be COP/],
        [[line({ amount: `${net}.5` })], /line 1: amount must be a decimal over 0 with at most 0 digits/],
        [[line({ amount: '0' })], /line 1: amount/],
        [[line({ amount: `-${net}` })], /line 1: amount/],
        [[line({ amount: '1e6' })], /line 1: amount/],
        [[line({ amount: net, day: '2026-02-30' })], /line 1: value-date must be a day/],
        [[ahead(-1)], /line 1: value-date must not be before the signature/],
        [[ahead(6)], /line 1: value-date must not be more than 5 days ahead/],
        [[line({ amount: net, payee: '\u202eBanco' })], /line 1: payee must be one line/],
        [[line({ amount: net, reference: ' ' })], /a line needs reference/],
        [['payee=applicant;amount=1'], /a line needs reference/],
        [['payee=a;payee=b;amount=1;reference=1;value-date=2026-01-01'], /has payee twice/],
        [['to=applicant'], /a line has payee, amount, reference, value-date/],
      ] as const) {
        const refused = await pay(id, lines, ...OVERRIDE);
        assert.notEqual(refused.code, 0);
        assert.match(refused.err, fault);
      }
      await requireUnpaid(id);
      assert.equal((await pay(id, [ahead(5)])).code, 0, 'five days ahead is the last day');
    });

    it('before the end of the period to withdraw, also with the right lines', async () => {
      const { id, net } = await signed(false);
      const refused = await pay(id, [line({ amount: net })]);
      assert.match(refused.err, /may withdraw until .*, or add --override/);
      await requireUnpaid(id);
      assert.equal((await pay(id, [line({ amount: net })], ...OVERRIDE)).code, 0);
    });
  });

  it('of two at once one wins, and nothing is doubled', async () => {
    const { id, net } = await signed();
    const ends = await Promise.all(
      ['A', 'B'].map((reference) => pay(id, [line({ amount: net, reference })])),
    );
    assert.deepEqual(ends.map(({ code }) => code).toSorted(), [0, 1]);
    assert.match(ends.find(({ code }) => code === 1)!.err, /is disbursed: it cannot be disbursed/);
    assert.equal((await linesOf(id)).length, 1);
    assert.equal((await kindsOf(id)).filter((kind) => kind === 'disbursed').length, 1);
  });

  it('has no lines for an application without a signed contract (D34)', async () => {
    const id = await begin();
    const refused = await pay(id, [line({ amount: '1' })], ...OVERRIDE);
    assert.match(refused.err, /has no signed contract: it is paid out without lines/);
    assert.equal((await pay(id, [], ...OVERRIDE)).code, 0);
  });

  it('takes no lines for a file of applications', async () => {
    assert.equal(
      (await run('application', 'disburse', '1', '2', '--reason', 'x', '--line', line({ amount: '1' }))).code,
      2,
    );
  });
});

describe('the proof of a payment (D46)', () => {
  const proof = join(folder, 'proof.pdf');
  writeFileSync(
    proof,
    statementPdf({ layout: 'rodar-co-1', ...ANA, issued: today, months: { [today.slice(0, 7)]: 1 } }),
  );

  it('is sealed into the store, and contract verify proves it', async () => {
    const { id, net } = await signed();
    const done = await pay(id, [line({ amount: net })], '--proof', proof);
    assert.equal(done.code, 0, done.err);
    const [{ proof_sha256 }] = await linesOf(id);
    assert.match(proof_sha256, /^[0-9a-f]{64}$/);
    assert.equal((await verified(id)).payment, null);
    const { rows } = await database.query('SELECT proof_key FROM disbursements WHERE application_id = $1', [
      id,
    ]);
    const sealed = await context.store.get(rows[0].proof_key);
    assert.ok(sealed !== undefined && !sealed.includes('%PDF'));
    await context.store.delete(rows[0].proof_key);
    assert.match((await verified(id)).payment ?? '', /the proof of line 1/);
  });

  it('is refused where it is no PDF and no picture, and nothing is stored', async () => {
    const { id, net } = await signed();
    const text = join(folder, 'proof.txt');
    writeFileSync(text, 'paid');
    const refused = await pay(id, [line({ amount: net, more: `;proof=${text}` })]);
    assert.match(refused.err, /must be a whole PDF or picture: it is refused as unsupported_type/);
    assert.match((await pay(id, [line({ amount: net })], '--proof', `${text}.pdf`)).err, /cannot be read/);
    await requireUnpaid(id);
  });

  it('leaves no file where the payment is refused', async () => {
    const { id } = await signed();
    const files = async () => (await readdir(join(folder, 'documents'), { recursive: true })).toSorted();
    const before = await files();
    assert.equal((await pay(id, [line({ amount: '1' })], '--proof', proof)).code, 1);
    const named = (await files()).filter((path) => /[0-9a-f]{32}$/.test(path));
    assert.deepEqual(
      named,
      before.filter((path) => /[0-9a-f]{32}$/.test(path)),
    );
  });
});

describe('a payment whose answer is lost (D46)', () => {
  it('keeps the proof that a stored line names, and no other one', async () => {
    const { id, net } = await signed();
    const pdf = statementPdf({
      ...{ layout: 'rodar-co-1', ...ANA, issued: today, months: { [today.slice(0, 7)]: 1 } },
    });
    const files = new Map([
      ['named', pdf],
      ['other', pdf],
    ]);
    const keys: string[] = [];
    const lost = withProofs(context, id, files, async (proofs) => {
      for (const { key } of proofs.values()) keys.push(key);
      const named = { payee: 'applicant', amount: net, reference: 'TR-1', valueDate: today };
      const payment: Payment = {
        ...{ lines: [{ ...named, proof: proofs.get('named')! }], actor: 'ana', reason: 'paid' },
        ...{ reasonCode: 'funds_transferred', isOverride: false },
      };
      const paid = await payOutNow(
        { ...context, clock: machineClock, actor: 'ana' },
        id,
        payment,
        async () => context.terms,
      );
      assert.equal(paid.kind, 'moved');
      throw new Error('the answer is lost');
    });
    await assert.rejects(lost, /the answer is lost/);
    const kept = await Promise.all(keys.map((key) => context.store.get(key)));
    assert.deepEqual(
      kept.map((one) => one !== undefined),
      [true, false],
    );
  });
});

describe('the legal maximum at the payment (D45)', () => {
  const termsFile = join(folder, 'terms.json');
  /** The terms of the day: with a maximum they offer loans below it alone, as a lender has to. */
  const write = (changes: { legal_maximum?: object; monthly_rate?: string; months?: number }) => {
    const lower = 'legal_maximum' in changes ? { monthly_rate: '0.01', fees: [], late_rate: '0.01' } : {};
    const ofCountry = { ...TERMS.countries.CO, ...lower, ...changes };
    writeFileSync(termsFile, JSON.stringify({ ...TERMS, countries: { CO: ofCountry } }));
  };
  const month = today.slice(0, 7);

  it('is compared with the unrounded rate of the contract: one step below, at and above it', async () => {
    const { id, net } = await signed();
    const { rows } = await database.query('SELECT terms FROM loan_contracts WHERE application_id = $1', [id]);
    const exact = BigInt(rows[0].terms.limitedRate);
    // A percentage has four digits in the terms: 10^26 of a rate times 10^30, of a hundredth 10^24.
    const step = 10n ** 24n;
    const percent = (units: bigint) => {
      const text = `${units}`.padStart(5, '0');
      return `${text.slice(0, -4)}.${text.slice(-4)}`;
    };
    const below = exact / step;
    assert.notEqual(below * step, exact, 'the rate is between two steps');
    try {
      write({ legal_maximum: { [month]: percent(below) } });
      const refused = await pay(id, [line({ amount: net })]);
      assert.match(refused.err, /its rate is above the legal maximum on the day of the payment.*--override/);
      await requireUnpaid(id);
      write({ legal_maximum: { '2020-01': percent(below + 1n) } });
      assert.match(
        (await pay(id, [line({ amount: net })])).err,
        /no legal maximum for the month of the payment/,
      );
      write({ legal_maximum: { [month]: percent(below + 1n), [addDays(today, 31).slice(0, 7)]: '1' } });
      assert.equal((await pay(id, [line({ amount: net })])).code, 0);
    } finally {
      write({});
    }
  });

  it('that the contract is above is overridden by two operators, and the evidence says so', async () => {
    const { id, net } = await signed();
    try {
      write({ legal_maximum: { [month]: '1' } });
      assert.equal((await pay(id, [line({ amount: net })], ...OVERRIDE)).code, 0);
    } finally {
      write({});
    }
    const { evidence } = await json('contract', 'show', `${id}`);
    const { facts } = evidence.find(({ kind }: { kind: string }) => kind === 'disbursed');
    assert.deepEqual([facts.override, facts.objections], [true, 'above_maximum']);
  });

  it('is of the terms of the day, and the contract keeps its own', async () => {
    const { id, net } = await signed();
    const before = (await json('contract', 'show', `${id}`)).offer;
    try {
      write({ monthly_rate: '9.9', months: 3 });
      assert.equal((await pay(id, [line({ amount: net })])).code, 0);
    } finally {
      write({});
    }
    assert.deepEqual((await json('contract', 'show', `${id}`)).offer, before);
  });
});

describe('after the payment (D46)', () => {
  const later = (what: 'return' | 'pay', id: number, lines: readonly string[], ...more: string[]) =>
    run('disbursement', what, `${id}`, '--reason', 'ticket 1', ...lineOptions(lines), ...more);
  const back = (returned: number, amount: string, reference = 'R-1') =>
    `returned=${returned};amount=${amount};reference=${reference};value-date=${today}`;

  it('a sum that came back is another line, and it is paid again', async () => {
    const { id, net } = await signed();
    assert.match(
      (await later('return', id, [back(1, net)])).err,
      /is pending_signature: nothing was paid out yet/,
    );
    await pay(id, [line({ amount: net })]);
    const first = await linesOf(id);
    assert.match((await later('return', id, [back(2, net)])).err, /no paid line 2/);
    assert.match((await later('return', id, [back(1, `${Number(net) + 1}`)])).err, /no more can come back/);
    assert.match(
      (await later('pay', id, [line({ amount: '1', reference: 'B' })])).err,
      /differ from the contract's list/,
    );
    assert.equal((await later('return', id, [back(1, net)])).code, 0);
    assert.equal((await json('disbursement', 'plan', `${id}`))[0].open, net);
    assert.match((await later('return', id, [back(1, '1', 'R-2')])).err, /no more can come back/);
    assert.match((await later('pay', id, [line({ amount: net })])).err, /line 1 is recorded already/);
    assert.equal((await later('pay', id, [line({ amount: net, reference: 'B' })])).code, 0);
    assert.match((await later('pay', id, [line({ amount: '1', reference: 'C' })])).err, /--override/);
    assert.equal((await later('pay', id, [line({ amount: '1', reference: 'C' })], ...OVERRIDE)).code, 0);
    const [planned] = await json('disbursement', 'plan', `${id}`);
    assert.deepEqual([planned.payee, planned.amount, planned.open], ['applicant', net, '0']);
    const lines = await linesOf(id);
    assert.deepEqual(lines[0], first[0], 'a line never changes');
    assert.deepEqual(
      lines.map(({ number, kind, returned }: Record<string, unknown>) => [number, kind, returned]),
      [
        [1, 'paid', null],
        [2, 'returned', 1],
        [3, 'paid', null],
        [4, 'paid', null],
      ],
    );
    assert.equal((await verified(id)).payment, null);
  });

  it('contract verify tells a line that was changed, cut off or put in', async () => {
    const { id, net } = await signed();
    await pay(id, [line({ amount: net })]);
    const other = await signed();
    await pay(other.id, [line({ amount: net })]);
    const attack = (sql: string) =>
      database.query(
        `ALTER TABLE disbursements DISABLE TRIGGER USER; ${sql}; ALTER TABLE disbursements ENABLE TRIGGER USER`,
      );
    await attack(`UPDATE disbursements SET value_date = value_date + 1 WHERE application_id = ${id}`);
    assert.match((await verified(id)).payment ?? '', /line 1 of the evidence is missing or changed/);
    await attack(
      `UPDATE disbursements SET value_date = value_date - 1, content = (SELECT o.content FROM disbursements o WHERE o.application_id = ${other.id}) WHERE application_id = ${id}`,
    );
    assert.match((await verified(id)).payment ?? '', /a line cannot be read/);
    await attack(`DELETE FROM disbursements WHERE application_id = ${id}`);
    assert.match((await verified(id)).payment ?? '', /line 1 of the evidence is missing/);
  });

  it('no value of a line lies open in the store', async () => {
    const { id } = await signed();
    await pay(
      id,
      [line({ payee: 'Banco Secreto', amount: '1234567', reference: 'REF-SECRETA' })],
      ...OVERRIDE,
    );
    const { rows } = await database.query(
      `SELECT (SELECT json_agg(d) FROM disbursements d WHERE d.application_id = $1)::text
        || (SELECT json_agg(e) FROM contract_evidence e WHERE e.application_id = $1)::text
        || (SELECT json_agg(a) FROM operator_events a WHERE a.application_id = $1)::text AS all`,
      [id],
    );
    assert.doesNotMatch(rows[0].all, /Secreto|1234567|SECRETA/);
    assert.ok((await run('disbursement', 'list', `${id}`)).out.includes('Banco Secreto'));
    const [act] = await json('audit', 'list', '--application', `${id}`);
    assert.equal(act.act, 'disbursement list', 'who reads them is recorded');
  });
});
