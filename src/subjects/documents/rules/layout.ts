/** How the statements of one platform look: data, so that a platform is added without a change of the program. */
import { amountsIn, type DecimalMark } from '../../../domain/document/amount.ts';
import { fold, foldCharacters } from '../../../domain/document/fold.ts';
import { monthAt } from '../../../domain/document/month.ts';

/** What a statement says, in its own words. */
export interface Finding {
  /** The id of the layout; null: none is known. */
  readonly layout: string | null;
  readonly holderName: string | null;
  readonly holderId: string | null;
  /** ISO 4217; null where neither the layout nor the text tells. */
  readonly currency: string | null;
  /** The month in which the statement was made; null where it does not tell. */
  readonly issued: string | null;
  /** The months with their amounts in hundredths, in the order of the statement. */
  readonly months: readonly { readonly month: string; readonly amount: number }[];
  /** From 0 to 1. */
  readonly confidence: number;
}

/** A layout. Texts are compared without case and accents. */
export interface Layout {
  readonly id: string;
  /** For people: whose statements these are. */
  readonly platform: string;
  /** All of these texts stand in each statement of the layout, and in no other one. */
  readonly recognise: readonly string[];
  /** The value stands after one of these labels, in the same line or in the next one. */
  readonly holder_name: readonly string[];
  readonly holder_id: readonly string[];
  readonly issued: readonly string[];
  readonly currency: string;
  readonly months: {
    /** The lines between these two texts count; absent: from the first line, to the last one. */
    readonly from?: string;
    readonly until?: string;
    /** Which amount of the line is the month's: 1 is the first one after the month, -1 the last one. */
    readonly amount: number;
    readonly decimal: DecimalMark;
  };
  readonly confidence: number;
  /** Lines of a statement, and what is found in them: each layout proves itself by these. */
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

/** Whether the lines are a statement of this layout; `text` is all of them, folded. */
export function isOfLayout(text: string, { recognise }: Layout): boolean {
  return recognise.every((sign) => text.includes(fold(sign)));
}

/** Columns of a line are this far apart. */
const COLUMN = /\s{2,}|\t/;

/** The value after the first of these labels that a line begins with or has in a column; null without one. */
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
 * The text after a label in a line, up to the next column; empty where the line ends there, null without the label.
 * `text` is the folded line.
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

// Which lines of a document its months came from, so that a person finds them again. Pure.

/** A line of a document; `month`: the one that its amount was counted for; null: it was counted for none. */
export interface DocumentLine {
  readonly text: string;
  readonly month: string | null;
}

/** The lines, each month at the first line that begins with it and has its amount. Each month counts once. */
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
