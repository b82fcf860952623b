/** Which lines of a document its months came from, so that a person finds them again. Pure. */
import { amountsIn } from '../../../domain/document/amount.ts';
import { monthAt } from '../../../domain/document/month.ts';
import type { Finding } from './layout.ts';

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
