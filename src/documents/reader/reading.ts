/** What the reader's process tells of a document. */

/** `no_text`: a picture of a kind that nobody reads here, or a PDF that holds pictures alone. */
export const FAULTS = ['encrypted', 'damaged', 'no_text'] as const;
export type ReadFault = (typeof FAULTS)[number];

/** `text`: the characters of the document itself; `ocr`: guessed from a picture. */
export const METHODS = ['text', 'ocr'] as const;

/** The lines of a document; columns of a line are two spaces apart. */
export interface ReadText {
  readonly method: (typeof METHODS)[number];
  readonly pages: number;
  readonly lines: readonly string[];
  /** How sure the reader is of the characters, from 0 to 1. */
  readonly confidence: number;
}

/** Pages that are read; later ones are left out. */
export const MOST_PAGES = 50;
export const MOST_LINES = 5_000;
export const MOST_LINE_LENGTH = 500;
