/**
 * What the reader's process tells about a document: the types and the limits of its answer (docs/documents.md, "The
 * reader"). Pure; both sides of the process load it.
 */

/**
 * `no_text`: a picture of a type that is not read here, or one in which nothing was read. `reader_memory`: a library
 * got no more memory.
 */
export const FAULTS = ['encrypted', 'damaged', 'no_text', 'reader_memory'] as const;
export type ReadFault = (typeof FAULTS)[number];

/** `text`: the characters of the document itself; `ocr`: guessed from a picture. */
export const METHODS = ['text', 'ocr'] as const;

/** Asks the process to read the pictures on the pages of a PDF. It stands in the place of a type of file. */
export const SCANNED_PDF = 'scanned application/pdf';

/** The lines of a document. Two spaces separate the columns of a line. */
export interface ReadText {
  readonly method: (typeof METHODS)[number];
  readonly pages: number;
  readonly lines: readonly string[];
  /** How sure the reader is of the characters, from 0 to 1. */
  readonly confidence: number;
}

/** The most pages, lines and characters that are read. The rest is left out, and the confidence falls. */
export const MOST_PAGES = 50;
export const MOST_LINES = 5_000;
export const MOST_LINE_LENGTH = 500;
/** Of all lines together: the rules that look at them block the service meanwhile. */
export const MOST_TEXT = 100_000;
/** The most confidence for a document of which a part was left out. */
export const CUT_CONFIDENCE = 0.5;

/** The first lines, as many as are read. */
export function boundLines(lines: readonly string[]): string[] {
  const bounded: string[] = [];
  let room = MOST_TEXT;
  for (const line of lines.slice(0, MOST_LINES)) {
    const text = line.slice(0, MOST_LINE_LENGTH);
    room -= text.length;
    if (room < 0) break;
    bounded.push(text);
  }
  return bounded;
}
