/**
 * Finds the debts in a statement of debts by its layout (D52; docs/documents.md, "Layouts"). Pure. No row is guessed:
 * if one cannot be read, or the rows do not add up to the total, an operator looks.
 */
import { amountsIn, type DecimalMark } from '../../../domain/document/amount.ts';
import { dayIn } from '../../../domain/document/month.ts';
import { type Debt, MOST_DEBTS } from '../../../domain/loan/debt.ts';
import { unitsAt } from '../../../domain/money/decimal.ts';
import { minorDigits, moneyText } from '../../../domain/money/money.ts';
import { columnsOf, type DebtsLayout, type Finding, linesBetween, valueAfter } from './layout.ts';

const UNCLEAR = { debts: [], debtsFault: 'debts_unclear' } as const;
/** A debt that is paid has a row with the balance zero, so there may be more rows than debts. */
const MOST_ROWS = 5 * MOST_DEBTS;

/** The debts in the rows of a statement. `day` is the day of the balances (YYYY-MM-DD); null: it was not found. */
export function debtsIn(
  lines: readonly string[],
  { currency, debts: form }: DebtsLayout,
  day: string | null,
): Pick<Finding, 'debts' | 'debtsFault'> {
  const rows = linesBetween(lines, form.from, form.until).filter((line) => /\d/.test(line));
  if (day === null || rows.length === 0 || rows.length > MOST_ROWS) return UNCLEAR;
  const found = rows.map((line) => rowOf(line, form)).filter((row) => row !== null);
  if (found.length < rows.length) return UNCLEAR;
  const debts = found.flatMap(({ amount, ...row }) =>
    amount === 0 ? [] : [{ ...row, balance: balanceOf(amount, currency), asOf: day }],
  );
  if (debts.length === 0 || debts.length > MOST_DEBTS) return UNCLEAR;
  if (form.total === undefined) return { debts };
  const total = amountOf(valueAfter(lines, form.total) ?? '', form.decimal);
  const sum = found.reduce((all, { amount }) => all + amount, 0);
  return total === sum ? { debts } : { debts, debtsFault: 'total_differs' };
}

/** A row with its balance in hundredths; null: it is no row of this form. */
function rowOf(
  line: string,
  { columns, creditor, reference, balance, overdue_since: overdue, decimal }: DebtsLayout['debts'],
): (Pick<Debt, 'creditor' | 'reference' | 'overdueSince'> & { readonly amount: number }) | null {
  const cells = columnsOf(line);
  const hasLast = cells.length === columns;
  if (!hasLast && !(overdue === columns && cells.length === columns - 1)) return null;
  const cell = (column: number) => cells[column - 1] ?? '';
  const amount = amountOf(cell(balance), decimal);
  const since = overdue === undefined ? '' : cell(overdue);
  const overdueSince = dayIn(since);
  if (amount === null || (overdueSince === null && /[\p{L}\p{N}]/u.test(since))) return null;
  return {
    creditor: typeof creditor === 'string' ? creditor : cell(creditor),
    reference: reference === undefined ? null : cell(reference),
    amount,
    overdueSince,
  };
}

/** The one amount of a cell; null: it has none, several, or one below zero. */
function amountOf(cell: string, mark: DecimalMark): number | null {
  const [amount, ...more] = amountsIn(cell, mark);
  return amount === undefined || more.length > 0 || amount < 0 ? null : amount;
}

/** The balance as an exact decimal. Hundredths that the currency does not have are rounded, as for all amounts. */
function balanceOf(amount: number, currency: string): string {
  return moneyText(unitsAt({ units: BigInt(amount), scale: 2 }, minorDigits(currency)), currency);
}
