/** What the reader's process tells of a document. */

/**
 * `no_text`: a picture of a kind that nobody reads here, or in which nothing was read. `reader_memory`: a library got
 * no more memory.
 */
export const FAULTS = ['encrypted', 'damaged', 'no_text', 'reader_memory'] as const;
export type ReadFault = (typeof FAULTS)[number];

/** `text`: the characters of the document itself; `ocr`: guessed from a picture. */
export const METHODS = ['text', 'ocr'] as const;

/** What the process is asked to read beside the types of files: the pictures that the pages of a PDF hold. */
export const SCANNED_PDF = 'scanned application/pdf';

/** The lines of a document; columns of a line are two spaces apart. */
export interface ReadText {
  readonly method: (typeof METHODS)[number];
  readonly pages: number;
  readonly lines: readonly string[];
  /** How sure the reader is of the characters, from 0 to 1. */
  readonly confidence: number;
}

/** Pages, lines and characters that are read. What comes after that is left out, and the confidence falls. */
export const MOST_PAGES = 50;
export const MOST_LINES = 5_000;
export const MOST_LINE_LENGTH = 500;
/** Of all lines: the rules that look at them hold up the service meanwhile. */
export const MOST_TEXT = 100_000;
/** Of a document of which a part was left out. */
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
