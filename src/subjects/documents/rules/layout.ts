/**
 * How the statements of one platform or lender look, as data, so that one is added without a change of the program;
 * and which lines of a document its months came from (docs/documents.md, "Layouts"). Pure.
 */
import { amountsIn, type DecimalMark } from '../../../domain/document/amount.ts';
import { fold, foldCharacters } from '../../../domain/document/fold.ts';
import { monthAt } from '../../../domain/document/month.ts';
import type { Debt } from '../../../domain/loan/debt.ts';

/** What a statement says. */
export interface Finding {
  /** The id of the layout; null: the layout is not known. */
  readonly layout: string | null;
  readonly holderName: string | null;
  readonly holderId: string | null;
  /** ISO 4217; null: neither the layout nor the text tells it. */
  readonly currency: string | null;
  /** The month in which the statement was made; null: the statement does not tell it. */
  readonly issued: string | null;
  /** The months with their amounts in hundredths, in the order of the statement. */
  readonly months: readonly { readonly month: string; readonly amount: number }[];
  /** The debts of a statement of debts (D52); absent: it has another layout. */
  readonly debts?: readonly Debt[];
  /** Why an operator has to look at the debts; absent: nobody has to. */
  readonly debtsFault?: DebtsFault;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** `debts_unclear`: the day or a row cannot be read, or there is no row. `total_differs`: the rows add up otherwise. */
export type DebtsFault = 'debts_unclear' | 'total_differs';

/** What layouts have in common. Texts are compared without case and accents. */
interface CommonLayout {
  readonly id: string;
  /** The platform's or the lender's name for people. */
  readonly platform: string;
  /** All of these texts stand in each statement of this layout, and in no statement of another one. */
  readonly recognise: readonly string[];
  /** The value stands after one of these labels, in the same line or in the next one. */
  readonly holder_name: readonly string[];
  readonly holder_id: readonly string[];
  readonly currency: string;
  readonly confidence: number;
}

/** A layout of statements of earnings. */
export interface EarningsLayout extends CommonLayout {
  readonly kind?: 'earnings';
  readonly issued: readonly string[];
  readonly months: {
    /**
     * The lines between these two texts count. Without `from` they begin with the first line, without `until` they end
     * with the last one.
     */
    readonly from?: string;
    readonly until?: string;
    /** Which amount of the line is the month's: 1 is the first one after the month, -1 the last one. */
    readonly amount: number;
    readonly decimal: DecimalMark;
  };
  readonly debts?: never;
  /** Lines of a statement, and what has to be found in them: a layout is proved by these. */
  readonly examples: readonly {
    readonly lines: readonly string[];
    readonly finds: {
      readonly holder_name: string;
      readonly holder_id: string;
      readonly issued: string;
      readonly months: Readonly<Record<string, string>>;
    };
  }[];
}

/** A layout of statements of debts (D52). */
export interface DebtsLayout extends CommonLayout {
  readonly kind: 'debts';
  /** The labels of the day on which the balances were these. */
  readonly as_of: readonly string[];
  readonly months?: never;
  readonly debts: {
    /** Each line with a digit between these two texts is a row. Without `until` the rows end with the last line. */
    readonly from: string;
    readonly until?: string;
    /** How many columns a row has. Only `overdue_since` may be missing, if it is the last one. */
    readonly columns: number;
    /** The column of the creditor, from 1 on; or the creditor of all rows. */
    readonly creditor: number | string;
    readonly reference?: number;
    readonly balance: number;
    /** In its column stands a day, or nothing with a letter or a digit. */
    readonly overdue_since?: number;
    readonly decimal: DecimalMark;
    /** The labels of the sum of the rows; absent: the statement has none. */
    readonly total?: readonly string[];
  };
  /** As in a layout of earnings. */
  readonly examples: readonly {
    readonly lines: readonly string[];
    readonly finds: {
      readonly holder_name: string;
      readonly holder_id: string;
      readonly as_of: string;
      readonly debts: readonly {
        readonly creditor: string;
        readonly reference: string | null;
        readonly balance: string;
        readonly overdue_since: string | null;
      }[];
    };
  }[];
}

/** A layout of either kind; without `kind` it is one of earnings. */
export type Layout = EarningsLayout | DebtsLayout;

/** Whether a statement has this layout; `text` is all its lines, folded. */
export function isOfLayout(text: string, { recognise }: Layout): boolean {
  return recognise.every((sign) => text.includes(fold(sign)));
}

/** The lines after the one with `from` and before the next one with `until`. No lines if `from` does not occur. */
export function linesBetween(lines: readonly string[], from?: string, until?: string): readonly string[] {
  const has = (sign: string) => (line: string) => fold(line).includes(fold(sign));
  const begin = from === undefined ? 0 : lines.findIndex(has(from)) + 1;
  if (from !== undefined && begin === 0) return [];
  const rest = lines.slice(begin);
  const end = until === undefined ? -1 : rest.findIndex(has(until));
  return end === -1 ? rest : rest.slice(0, end);
}

/** What separates the columns of a line. */
const COLUMN = /\s{2,}|\t/;

/** The columns of a line. */
export function columnsOf(line: string): string[] {
  return line.trim().split(COLUMN);
}

/** The value after the first of these labels that a line or a column begins with; null: no line has one. */
export function valueAfter(lines: readonly string[], labels: readonly string[]): string | null {
  const folded = lines.map((line) => foldCharacters(line).join(''));
  for (const label of labels) {
    const sign = fold(label).replace(/ ?:$/, '');
    for (const [index, line] of lines.entries()) {
      const value = valueIn(line, folded[index] ?? '', sign);
      if (value === null) continue;
      const found = value === '' ? (lines[index + 1] ?? '').trim().split(COLUMN, 1)[0] : value;
      if (found !== undefined && found !== '') return found;
    }
  }
  return null;
}

/**
 * The text after a label in a line, up to the next column. Empty if the line ends there; null without the label. `text`
 * is the folded line.
 */
function valueIn(line: string, text: string, sign: string): string | null {
  for (let from = 0; ; ) {
    const at = text.indexOf(sign, from);
    if (at === -1) return null;
    from = at + 1;
    if (at > 0 && text[at - 1] !== ' ') continue;
    const before = text.slice(0, at);
    if (before.trim() !== '' && !before.endsWith('  ')) continue;
    const rest = [...line].slice([...text.slice(0, at + sign.length)].length).join('');
    if (/^\s*(?:[:.#°º]|\s|$)/u.test(rest)) {
      return (
        rest
          .replace(/^[\s:.#°º]+/u, '')
          .split(COLUMN, 1)[0]
          ?.trim() ?? ''
      );
    }
  }
}

// The second part: which lines of a document its months came from, so that a person finds them again.

/** A line of a document. `month`: the month for which its amount was counted; null: for none. */
export interface DocumentLine {
  readonly text: string;
  readonly month: string | null;
}

/** All lines. Each month stands once, at the first line that begins with it and has its amount. */
export function countedLines(lines: readonly string[], months: Finding['months']): DocumentLine[] {
  const left = [...months];
  return lines.map((text) => {
    const found = monthAt(text);
    if (found === null) return { text, month: null };
    const rest = [...text].slice(found.length).join('');
    const amounts = ([null, ',', '.'] as const).flatMap((mark) => amountsIn(rest, mark));
    const at = left.findIndex(({ month, amount }) => month === found.month && amounts.includes(amount));
    if (at === -1) return { text, month: null };
    left.splice(at, 1);
    return { text, month: found.month };
  });
}
