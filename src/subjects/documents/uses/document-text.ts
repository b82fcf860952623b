/** The text of a PDF for the eyes of an operator, with the lines whose amounts were counted. */
import type { Reader } from '../reader/reader.ts';
import { countedLines, type DocumentLine } from '../rules/layout.ts';
import type { DocumentStore } from '../store/document-store.ts';
import type { ShownDocument } from './operate.ts';

/** What shows files to operators. */
export interface ShownFiles {
  readonly store: DocumentStore;
  /** Nothing of a PDF but its lines comes out. */
  readonly readText: Reader;
}

/** The text of a PDF. `counted`: how many lines have an amount that counted; null: nobody looked for amounts in it. */
export interface DocumentText {
  readonly lines: readonly DocumentLine[];
  readonly counted: number | null;
}

/** Reads the file again. null: it is no PDF, its pages are pictures, it does not open, or this machine reads none. */
export async function textOf(
  readText: Reader,
  { document, opened }: ShownDocument,
  bytes: Buffer,
): Promise<DocumentText | null> {
  if (document.contentType !== 'application/pdf') return null;
  const text = await readText(bytes, document.contentType);
  if ('fault' in text || text.lines.length === 0) return null;
  const { stated, finding } = opened?.reading ?? {};
  const found = stated ?? finding ?? null;
  const lines = countedLines(text.lines, found?.months ?? []);
  return { lines, counted: found && lines.filter(({ month }) => month !== null).length };
}
