/** Draws the pages of a contract or of a certificate into a PDF. */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type EmbeddedFont, type PDF, rgb } from '@libpdf/core';
import type { Block } from '../../../domain/loan/contract-template.ts';
import { layOut, type Measure, PAGE } from './layout.ts';

// The fonts of contracts: DejaVu Sans, which has the letters of Latin, Greek and Cyrillic scripts, embedded.

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

/** Adds pages with the blocks. Characters that the font lacks are written by their number. */
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

/** Pictures, and characters that nobody sees. Signs such as ® and ™, which come before U+2300, are no pictures here. */
const NO_LETTERS =
  /(?=[\u2300-\u{10FFFF}])\p{Extended_Pictographic}|\p{Regional_Indicator}|\p{Variation_Selector}|\p{Emoji_Modifier}|\p{Cf}|\p{Cc}/gu;

/**
 * A text as the font can show it. Emoji and invisible characters are left out, as in messages (D42). A letter that the
 * font lacks is written by its number, so that no name loses a letter in silence.
 */
function showable(text: string, font: EmbeddedFont): string {
  const plain = text.normalize('NFC').replace(/\p{ASCII}+|\P{ASCII}+/gu, (part) =>
    // Digits are emoji in Unicode's table.
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
