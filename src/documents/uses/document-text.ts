/** The text of a PDF for the eyes of an operator, with the lines whose amounts were counted. */
import type { Clock } from '../../base/clock.ts';
import { PDF_LIMITS, pdfTextReader } from '../reader/reader.ts';
import { countedLines, type DocumentLine } from '../rules/counted-lines.ts';
import type { ShownDocument } from './operate.ts';

/** The listener answers a request by itself soon after. */
const TIME_MS = 5_000;

/** The text of a PDF. `counted`: how many lines have an amount that counted; null: nobody looked for amounts in it. */
export interface DocumentText {
  readonly lines: readonly DocumentLine[];
  readonly counted: number | null;
}

/**
 * Reads the file again in a process of its own: nothing of the PDF but its lines comes out. null: it is no PDF, its
 * pages are pictures, or it does not open.
 */
export async function textOf(
  clock: Clock,
  { document, opened }: ShownDocument,
  bytes: Buffer,
): Promise<DocumentText | null> {
  if (document.contentType !== 'application/pdf') return null;
  const read = pdfTextReader(clock, { ...PDF_LIMITS, timeMs: TIME_MS });
  const text = await read(bytes, document.contentType);
  if ('fault' in text || text.lines.length === 0) return null;
  const { stated, finding } = opened?.reading ?? {};
  const found = stated ?? finding ?? null;
  const lines = countedLines(text.lines, found?.months ?? []);
  return { lines, counted: found && lines.filter(({ month }) => month !== null).length };
}
