/**
 * Draws the pages of a contract or of a certificate into a PDF: line breaks, page breaks, tables and fonts
 * (docs/signing.md, "The contract"). Reads the font files from the disk.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type EmbeddedFont, type PDF, rgb } from '@libpdf/core';
import type { Block } from '../../../domain/loan/contract-template.ts';

// The first part lays the blocks out on pages: line and page breaks, and tables whose head repeats. It draws nothing,
// and measures texts with the caller's function.

/** A4, in points. */
const PAGE = { width: 595.28, height: 841.89 } as const;
const MARGIN = 56;
/** The foot of each page lies below this height. */
const BOTTOM = 76;
const WIDTH = PAGE.width - 2 * MARGIN;
const TOP = PAGE.height - MARGIN;

/** A text at a place; the origin is the lower left corner. */
interface Run {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly bold: boolean;
}

type Measure = (text: string, size: number, bold: boolean) => number;

const STYLES = {
  title: { size: 16, bold: true, line: 22, before: 0, after: 10 },
  heading: { size: 11, bold: true, line: 16, before: 8, after: 2 },
  text: { size: 10, bold: false, line: 14, before: 0, after: 4 },
} as const;
const CELL = { size: 8, line: 12 } as const;
/** Between two cells. */
const GAP = 6;

/** The runs of each page, in the order of the blocks. */
function layOut(blocks: readonly Block[], measure: Measure): Run[][] {
  const pages: Run[][] = [[]];
  let y: number = TOP;
  const newPage = () => {
    pages.push([]);
    y = TOP;
  };
  const put = (run: Omit<Run, 'y'>) => pages.at(-1)?.push({ ...run, y });
  /** Goes down by a line. Begins a new page if `needed` points do not fit. */
  const down = (line: number, needed = line) => {
    if (y - needed < BOTTOM) newPage();
    y -= line;
  };
  for (const block of blocks) {
    if (block.kind === 'table') {
      const columns = WIDTH / block.head.length;
      const row = (cells: readonly string[], bold: boolean) => {
        down(CELL.line);
        for (const [index, cell] of cells.entries()) {
          const size = fitting(cell, CELL.size, bold, columns - GAP, measure);
          const x = MARGIN + (index + 1) * columns - GAP - measure(cell, size, bold);
          put({ text: cell, x, size, bold });
        }
      };
      // The head never stands alone at the end of a page.
      down(0, 3 * CELL.line);
      row(block.head, true);
      for (const cells of block.rows) {
        if (y - CELL.line < BOTTOM) {
          newPage();
          row(block.head, true);
        }
        row(cells, false);
      }
      y -= CELL.line;
      continue;
    }
    const { size, bold, line, before, after } = STYLES[block.kind];
    const lines = linesOf(block.text, WIDTH, (text) => measure(text, size, bold));
    if (y !== TOP) y -= before;
    // A heading stays on the page of the first line below it.
    const together = block.kind === 'text' ? line : lines.length * line + after + STYLES.text.line;
    for (const [index, text] of lines.entries()) {
      down(line, index === 0 ? together : line);
      put({ text, x: MARGIN, size, bold });
    }
    y -= after;
  }
  return pages;
}

/** The size at which a text fits its column. Amounts with many digits become smaller. */
function fitting(text: string, size: number, bold: boolean, width: number, measure: Measure): number {
  const taken = measure(text, size, bold);
  return taken <= width ? size : (size * width) / taken;
}

/** Breaks a text at its spaces. A word that is longer than a line is broken between characters. */
export function linesOf(text: string, width: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(/ +/)) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (widthOf(longer) <= width) {
        line = longer;
        continue;
      }
      if (line !== '') lines.push(line);
      const pieces = piecesOf(word, width, widthOf);
      lines.push(...pieces.slice(0, -1));
      line = pieces.at(-1) ?? '';
    }
    lines.push(line);
  }
  return lines;
}

function piecesOf(word: string, width: number, widthOf: (text: string) => number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && widthOf(piece + character) > width) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
}

// The second part draws. The font is DejaVu Sans, embedded, because it has the letters of Latin, Greek and Cyrillic
// scripts.

const FILES = { regular: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf' } as const;

/** The bytes of both fonts. */
type Fonts = Readonly<Record<keyof typeof FILES, Uint8Array>>;

let loaded: Promise<Fonts> | null = null;

/** Reads the fonts once a process. */
function loadFonts(): Promise<Fonts> {
  loaded ??= read().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function read(): Promise<Fonts> {
  const { resolve } = createRequire(import.meta.url);
  const bytesOf = (name: string) => readFile(resolve(`dejavu-fonts-ttf/ttf/${name}`));
  const [regular, bold] = await Promise.all([bytesOf(FILES.regular), bytesOf(FILES.bold)]);
  return { regular, bold };
}

/** What stands at the foot of each page. */
export interface Foot {
  /** The number and the version of the contract. */
  readonly left: string;
  /** `Página 1 de 3`. */
  readonly page: (page: number, pages: number) => string;
  /** A mark on each page; null: none. */
  readonly mark: string | null;
}

const FOOT = { size: 8, y: 46, x: 56 } as const;
const GREY = rgb(0.35, 0.35, 0.35);
const RED = rgb(0.7, 0, 0);

/** Adds pages with the blocks. A letter that the font lacks is written by its number. */
export async function drawPages(pdf: PDF, blocks: readonly Block[], foot: Foot): Promise<void> {
  const fonts = embed(pdf, await loadFonts());
  const fontOf = (bold: boolean) => (bold ? fonts.bold : fonts.regular);
  const measure: Measure = (text, size, bold) => fontOf(bold).getTextWidth(text, size);
  const shown = (text: string) => showable(text, fonts.regular);
  const pages = layOut(
    blocks.map((block) => mapTexts(block, shown)),
    measure,
  );
  for (const [index, runs] of pages.entries()) {
    const page = pdf.addPage({ width: PAGE.width, height: PAGE.height });
    for (const { text, x, y, size, bold } of runs) page.drawText(text, { x, y, size, font: fontOf(bold) });
    const { size, x, y } = FOOT;
    const small = { size, font: fonts.regular, color: GREY };
    page.drawText(shown(foot.left), { x, y, ...small });
    const number = foot.page(index + 1, pages.length);
    page.drawText(number, { x: PAGE.width - x - measure(number, size, false), y, ...small });
    if (foot.mark !== null) page.drawText(foot.mark, { x, y: y - 14, size, font: fonts.bold, color: RED });
  }
}

function embed(pdf: PDF, { regular, bold }: Fonts): Record<keyof Fonts, EmbeddedFont> {
  return { regular: pdf.embedFont(regular), bold: pdf.embedFont(bold) };
}

function mapTexts(block: Block, map: (text: string) => string): Block {
  if (block.kind !== 'table') return { ...block, text: map(block.text) };
  return { kind: 'table', head: block.head.map(map), rows: block.rows.map((cells) => cells.map(map)) };
}

/**
 * Pictures and invisible characters. Signs such as ® and ™, which come before U+2300, do not count as pictures here.
 */
const NO_LETTERS =
  /(?=[\u2300-\u{10FFFF}])\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Variation_Selector}|\p{Emoji_Modifier}|\p{Cf}|\p{Cc}/gu;

/**
 * A text that the font can show. Emoji and invisible characters are left out, as in messages (D42). A letter that the
 * font lacks is written by its number, so that no letter of a name disappears unseen.
 */
function showable(text: string, font: EmbeddedFont): string {
  const plain = text.normalize('NFC').replace(/\p{ASCII}+|\P{ASCII}+/gu, (part) =>
    // Unicode's table counts digits as emoji, so ASCII is handled apart.
    /^\p{ASCII}/u.test(part) ? part.replace(/[\0-\x09\x0b-\x1f\x7f]/g, '') : part.replace(NO_LETTERS, ''),
  );
  const missing = new Set(font.getUnencodableCharacters(plain));
  const written =
    missing.size === 0
      ? plain
      : Array.from(plain, (one) => (missing.has(one) && one !== '\n' ? numberOf(one) : one)).join('');
  return written.replace(/ {2,}/g, ' ');
}

function numberOf(character: string): string {
  return `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}
