/** Takes the text of a PDF as lines, by the places of its characters. Runs only in the reader's process. */
import { getDocumentProxy } from 'unpdf';
import {
  boundLines,
  CUT_CONFIDENCE,
  MOST_LINES,
  MOST_PAGES,
  type ReadFault,
  type ReadText,
} from './reading.ts';

/** Less text is only page numbers on pages that are pictures. */
const LEAST_TEXT = 20;
/** A page with more pieces of text is no statement. */
const MOST_PIECES = 20_000;

interface Piece {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The lines of all pages, or why there are none. */
export async function pdfLines(bytes: Uint8Array): Promise<ReadText | { readonly fault: ReadFault }> {
  const document = await openPdf(bytes, 1);
  if ('fault' in document) return document;
  const lines: string[] = [];
  let isCut = document.numPages > MOST_PAGES;
  const pages = Math.min(document.numPages, MOST_PAGES);
  for (let number = 1; number <= pages && lines.length < MOST_LINES; number += 1) {
    const page = await document.getPage(number).catch(() => null);
    if (page === null) return { fault: 'damaged' };
    const { items } = await page.getTextContent();
    isCut ||= items.length > MOST_PIECES;
    const pieces = items.slice(0, MOST_PIECES).flatMap((item) => ('str' in item ? pieceOf(item) : []));
    lines.push(...linesOf(pieces));
    page.cleanup();
  }
  const text = boundLines(lines);
  if (text.join('').replace(/\s/g, '').length < LEAST_TEXT) return { fault: 'no_text' };
  isCut ||= text.join('').length < lines.join('').length;
  return { method: 'text', pages: document.numPages, lines: text, confidence: isCut ? CUT_CONFIDENCE : 1 };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Opens a PDF, or says why it cannot be opened. Pictures with more pixels than `maxImageSize` are left out. */
export async function openPdf(
  bytes: Uint8Array,
  maxImageSize: number,
): Promise<Pdf | { readonly fault: ReadFault }> {
  try {
    // pdf.js runs no code of a document. No font of the machine is loaded.
    return await getDocumentProxy(bytes, { disableFontFace: true, useSystemFonts: false, maxImageSize });
  } catch (error) {
    return { fault: error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'damaged' };
  }
}

interface Item {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
}

function pieceOf({ str, transform, width, height }: Item): Piece[] {
  if (str.trim() === '') return [];
  const [, , c = 0, d = 0, x = 0, y = 0] = transform;
  return [{ text: str, x, y, width, height: height || Math.hypot(c, d) || 1 }];
}

/** Pieces whose baselines are less than half a letter apart are one line. */
function linesOf(pieces: readonly Piece[]): string[] {
  const lines: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => other.y - one.y)) {
    const line = lines.at(-1);
    const [first] = line ?? [];
    if (first !== undefined && first.y - piece.y < first.height / 2) line?.push(piece);
    else lines.push([piece]);
  }
  return lines.map((line) => joined(line.toSorted((one, other) => one.x - other.x)));
}

/** A gap is a space from `SPACE` of a letter's height on, and separates columns from `COLUMN` on. */
const SPACE = 0.15;
const COLUMN = 1.2;

function joined(line: readonly Piece[]): string {
  let text = '';
  let end = Number.NEGATIVE_INFINITY;
  for (const { text: more, x, width, height } of line) {
    const gap = (x - end) / height;
    if (text !== '') text += gap > COLUMN ? '  ' : gap > SPACE ? ' ' : '';
    text += more;
    end = x + width;
  }
  return text;
}
