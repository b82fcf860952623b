/**
 * Puts the blocks of a contract on pages: line and page breaks, and tables whose head repeats. It draws nothing, and
 * measures with the caller's function.
 */
import type { Block } from '../../../domain/loan/contract-template.ts';

/** A4, in points. */
export const PAGE = { width: 595.28, height: 841.89 } as const;
const MARGIN = 56;
/** The foot of each page lies below. */
const BOTTOM = 76;
const WIDTH = PAGE.width - 2 * MARGIN;
const TOP = PAGE.height - MARGIN;

/** A text at a place; the origin is the lower left corner. */
export interface Run {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly bold: boolean;
}

export type Measure = (text: string, size: number, bold: boolean) => number;

const STYLES = {
  title: { size: 16, bold: true, line: 22, before: 0, after: 10 },
  heading: { size: 11, bold: true, line: 16, before: 8, after: 2 },
  text: { size: 10, bold: false, line: 14, before: 0, after: 4 },
} as const;
const CELL = { size: 8, line: 12 } as const;
/** Between two cells. */
const GAP = 6;

/** The runs of each page, in the order of the blocks. */
export function layOut(blocks: readonly Block[], measure: Measure): Run[][] {
  const pages: Run[][] = [[]];
  let y: number = TOP;
  const newPage = () => {
    pages.push([]);
    y = TOP;
  };
  const put = (run: Omit<Run, 'y'>) => pages.at(-1)?.push({ ...run, y });
  /** Goes down by a line; begins a page where `needed` points do not fit. */
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
    // A heading stands with the first line of what it heads.
    const together = block.kind === 'text' ? line : lines.length * line + after + STYLES.text.line;
    for (const [index, text] of lines.entries()) {
      down(line, index === 0 ? together : line);
      put({ text, x: MARGIN, size, bold });
    }
    y -= after;
  }
  return pages;
}

/** The size at which a text fits: amounts with many digits become smaller. */
function fitting(text: string, size: number, bold: boolean, width: number, measure: Measure): number {
  const taken = measure(text, size, bold);
  return taken <= width ? size : (size * width) / taken;
}

/** Breaks a text at its spaces; a word that is longer than a line is broken inside, between characters. */
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
