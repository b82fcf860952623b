/** The rules of debts and of who is paid (D52): tables of cases, and the sum of the payees as a property. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Debt,
  debtBlock,
  debtFault,
  listFault,
  MOST_DEBTS,
  sumText,
} from '../../../src/domain/loan/debt.ts';
import { payeesOf } from '../../../src/domain/loan/payees.ts';
import { moneyText, toMinor } from '../../../src/domain/money/money.ts';

const TODAY = '2026-12-01';
const debt = (changes: Partial<Debt> = {}): Debt => ({
  creditor: 'Banco Azul',
  reference: '4711',
  balance: '1500000',
  asOf: TODAY,
  overdueSince: null,
  ...changes,
});

describe('a debt by itself (D52)', () => {
  const cases: [changes: Partial<Debt>, currency: string, field: string | null][] = [
    [{}, 'COP', null],
    [{ reference: null, overdueSince: '2026-01-31' }, 'COP', null],
    [{ creditor: '' }, 'COP', 'creditor'],
    [{ creditor: ' Banco' }, 'COP', 'creditor'],
    [{ creditor: '12345' }, 'COP', 'creditor'],
    [{ creditor: 'Banco\u202eAzul' }, 'COP', 'creditor'],
    [{ creditor: 'a'.repeat(80) }, 'COP', null],
    [{ creditor: 'a'.repeat(81) }, 'COP', 'creditor'],
    // The applicant's own part has this name in the lines of a payment.
    [{ creditor: 'applicant' }, 'COP', 'creditor'],
    [{ creditor: 'Applicant.' }, 'COP', 'creditor'],
    [{ creditor: 'Applicant Bank' }, 'COP', null],
    [{ reference: '' }, 'COP', 'reference'],
    [{ balance: '0' }, 'COP', 'balance'],
    [{ balance: '1' }, 'COP', null],
    [{ balance: '-5' }, 'COP', 'balance'],
    [{ balance: '1e6' }, 'COP', 'balance'],
    [{ balance: '1500000.50' }, 'COP', 'balance'],
    [{ balance: '1500000.50' }, 'MXN', null],
    [{ balance: '0.00' }, 'MXN', 'balance'],
    [{ balance: '0.01' }, 'MXN', null],
    [{ balance: '0.001' }, 'MXN', 'balance'],
    [{ asOf: '2026-12-02' }, 'COP', 'as_of'],
    [{ overdueSince: '2026-12-01' }, 'COP', null],
    [{ overdueSince: '2026-12-02' }, 'COP', 'overdue_since'],
  ];
  for (const [changes, currency, field] of cases) {
    it(`${currency} ${JSON.stringify(changes).slice(0, 60)}: ${field ?? 'is fine'}`, () =>
      assert.equal(debtFault(debt(changes), currency, TODAY)?.field ?? null, field));
  }
});

describe('a list of debts (D52)', () => {
  const fault = (listed: Debt[], added: Debt[]) => listFault(listed, added, 'MXN')?.field ?? null;

  it('has each debt once, whatever its spelling', () => {
    const same = debt({ creditor: 'BANCO ázul', reference: '47-11', balance: '1500000.00' });
    assert.equal(fault([debt()], [same]), 'debts');
    assert.equal(fault([], [debt(), same]), 'debts');
    for (const other of [{ creditor: 'Banco Rojo' }, { reference: '4712' }, { balance: '1500000.01' }])
      assert.equal(fault([debt()], [debt(other)]), null);
  });

  it(`has ${MOST_DEBTS} debts at most`, () => {
    const many = Array.from({ length: MOST_DEBTS }, (_, index) => debt({ reference: `${index}` }));
    assert.equal(fault(many.slice(1), [debt({ reference: 'one more' })]), null);
    assert.equal(fault(many, [debt({ reference: 'one more' })]), 'debts');
  });
});

describe('the sum against the declared amount and what is paid out (D52)', () => {
  const block = (sum: bigint, net = 2_000n, isAccepted = false) =>
    debtBlock(sum, { declared: 1_000n, net, isAccepted });

  it('exactly 10 % off is fine, one unit more is not', () => {
    assert.deepEqual(
      [900n, 1_100n].map((sum) => block(sum)),
      [null, null],
    );
    assert.deepEqual(
      [899n, 1_101n, 0n].map((sum) => block(sum)),
      ['debts_differ', 'debts_differ', 'debts_differ'],
    );
  });

  it('an operator may accept a difference, but nothing above what is paid out', () => {
    assert.equal(block(0n, 2_000n, true), null);
    assert.equal(block(1_000n, 1_000n), null);
    assert.equal(block(1_001n, 1_000n), 'debts_above_net');
    assert.equal(block(1_001n, 1_000n, true), 'debts_above_net');
  });
});

describe('the payees (D52)', () => {
  it('are the creditors in their order, and the applicant with what is left', () => {
    const debts = [
      { id: 7, ...debt({ balance: '1500.5' }) },
      { id: 9, ...debt({ creditor: 'Nu', reference: null, balance: '200' }) },
    ];
    assert.deepEqual(payeesOf(debts, { net: '2000.00', currency: 'MXN' }), [
      { kind: 'creditor', payee: 'Banco Azul', amount: '1500.50', reference: '4711', debtId: 7 },
      { kind: 'creditor', payee: 'Nu', amount: '200.00', reference: null, debtId: 9 },
      { kind: 'applicant', payee: 'applicant', amount: '299.50', reference: null, debtId: null },
    ]);
  });

  it('have no line for the applicant if nothing is left, and are none above what is paid out', () => {
    const one = [{ id: 7, ...debt({ balance: '2000' }) }];
    assert.deepEqual(
      payeesOf(one, { net: '2000.00', currency: 'MXN' }).map(({ kind }) => kind),
      ['creditor'],
    );
    assert.throws(() => payeesOf(one, { net: '1999.99', currency: 'MXN' }), RangeError);
  });

  it('add up to what is paid out, to the unit, in every currency', () => {
    const minor = fc.bigInt({ min: 1n, max: 10n ** 12n });
    fc.assert(
      fc.property(
        fc.constantFrom('COP', 'MXN', 'CLP', 'KWD'),
        fc.array(minor, { maxLength: MOST_DEBTS }),
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        (currency, balances, left) => {
          const debts = balances.map((balance, id) => ({
            id,
            ...debt({ balance: moneyText(balance, currency), reference: `${id}` }),
          }));
          const net = moneyText(toMinor(sumText(debts, currency), currency) + left, currency);
          const paid = payeesOf(debts, { net, currency });
          const sum = paid.reduce((total, { amount }) => total + toMinor(amount, currency), 0n);
          assert.equal(moneyText(sum, currency), net);
          assert.ok(paid.every(({ amount }) => toMinor(amount, currency) > 0n));
        },
      ),
    );
  });
});
