/**
 * Shows the text of a PDF to an operator, and marks the lines whose amounts were counted (docs/operators.md, "One
 * application"). Starts the reader's process again.
 */
import type { Reader } from '../reader/reader.ts';
import { countedLines, type DocumentLine } from '../rules/layout.ts';
import type { DocumentStore } from '../store/document-store.ts';
import type { ShownDocument } from './operate.ts';

/** What is needed to show files to operators. */
export interface ShownFiles {
  readonly store: DocumentStore;
  /** Only the lines of a PDF leave the reader. */
  readonly readText: Reader;
}

/** The text of a PDF. `counted`: how many lines have an amount that was counted; null: no amounts were looked for. */
export interface DocumentText {
  readonly lines: readonly DocumentLine[];
  readonly counted: number | null;
}

/**
 * Reads the file again. Null if it is no PDF, if its pages are pictures, if it does not open, or if this machine reads
 * no documents.
 */
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
