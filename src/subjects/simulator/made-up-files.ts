/**
 * Makes up files for the simulator's applicants: statements that fit an application or do not, and other files
 * (docs/messages.md, "The simulator"). Pure.
 */
import { crc32, deflateSync } from 'node:zlib';
import type { UploadFile } from '../../domain/message/channel.ts';
import type { MediaKind } from '../../domain/message/channel-event.ts';
import { HOUR_MS } from '../../ground/base/clock.ts';
import type { Owner } from './owners.ts';
import { type Row, type Statement, type StatementLayout, statementRows } from './statement-rows.ts';

// The first part makes PDFs that look like the earnings statements of made-up platforms.

/** A statement as a PDF of one page. */
export function statementPdf(statement: Statement): Buffer {
  return pdfOf([statementRows(statement)]);
}

/** A PDF with a page for each list of rows, in Helvetica. Characters beyond Latin-1 become question marks. */
export function pdfOf(pages: readonly (readonly Row[])[], columnWidth = COLUMN_WIDTH): Buffer {
  const objects: string[] = [];
  const add = (text: string) => objects.push(text);
  const numberOfPage = (index: number) => 4 + 2 * index;
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, n) => `${numberOfPage(n)} 0 R`).join(' ')}] >>`,
  );
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  for (const [index, rows] of pages.entries()) {
    const content = contentOf(rows, columnWidth);
    const fonts = '/Resources << /Font << /F1 3 0 R >> >>';
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${fonts} /Contents ${numberOfPage(index) + 1} 0 R >>`,
    );
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  }
  return fileOf(objects);
}

const LEFT = 50;
const COLUMN_WIDTH = 170;
const TOP = 780;
const LINE_HEIGHT = 18;

function contentOf(rows: readonly Row[], columnWidth: number): string {
  const texts = rows.flatMap((cells, line) =>
    cells.flatMap((cell, column) =>
      cell === ''
        ? []
        : [`1 0 0 1 ${LEFT + column * columnWidth} ${TOP - line * LINE_HEIGHT} Tm (${escaped(cell)}) Tj`],
    ),
  );
  return `BT /F1 11 Tf\n${texts.join('\n')}\nET`;
}

function escaped(text: string): string {
  return [...text]
    .map((character) => (character.codePointAt(0)! > 255 ? '?' : character))
    .join('')
    .replace(/[\\()]/g, '\\$&');
}

function fileOf(objects: readonly string[]): Buffer {
  let text = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const places = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = text.length;
  const rows = places.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

/** What the page offers. docs/messages.md explains each. */
export const MADE_UP = [
  'fitting',
  'less',
  'far_less',
  'other_person',
  'locked',
  'lying',
  'picture',
  'voice',
] as const;
export type MadeUp = (typeof MADE_UP)[number];

/** A file as a person sends it. Pictures and voice messages have their `filename` only for the page. */
export interface MadeUpFile extends UploadFile {
  readonly media: MediaKind;
}

/** The made-up platform that pays in a currency. Other currencies have none. */
const LAYOUTS: Readonly<Record<string, StatementLayout>> = {
  COP: 'rodar-co-1',
  MXN: 'entrega-ya-mx-1',
  BRL: 'corre-mais-br-1',
  PEN: 'moto-va-pe-1',
  CLP: 'pedalea-cl-1',
  ARS: 'llego-ya-ar-1',
};
const SHARES: Partial<Record<MadeUp, number>> = { less: 0.8, far_less: 0.5 };
const MONTHS = 3;
const ANOTHER = { name: 'Benito Otero Salas', idNumber: '90807060' };

/** A file for an applicant; `today` decides which months are whole. */
export function madeUpFile(
  what: MadeUp,
  owner: Pick<Owner, 'name' | 'idNumber' | 'income' | 'currency'>,
  today: Date,
): MadeUpFile {
  const { income, currency } = owner;
  const person = what === 'other_person' ? ANOTHER : owner;
  const statement = () =>
    statementPdf({
      layout: LAYOUTS[currency] ?? 'rodar-co-1',
      name: person.name,
      idNumber: person.idNumber,
      issued: today.toISOString().slice(0, 10),
      months: monthsBefore(today, income * (SHARES[what] ?? 1)),
    });
  switch (what) {
    case 'fitting':
    case 'less':
    case 'far_less':
    case 'other_person':
      return document(statement(), 'ingresos.pdf');
    case 'locked':
      return document(locked(statement()), 'con-clave.pdf');
    case 'lying':
      return document(Buffer.from('MZ\x90\0 this is a program and no PDF', 'latin1'), 'extracto.pdf');
    case 'picture':
      return { bytes: picture(640, 480), contentType: 'image/png', filename: 'foto.png', media: 'image' };
    case 'voice':
      return { bytes: VOICE, contentType: 'audio/ogg', filename: 'nota-de-voz.ogg', media: 'audio' };
  }
}

function document(bytes: Buffer, filename: string): MadeUpFile {
  return { bytes, contentType: 'application/pdf', filename, media: 'document' };
}

/** In the Americas a month ends up to this much later than in UTC. */
const MONTH_ENDS_LATER_MS = 12 * HOUR_MS;

/** The last months that are over on a day, oldest first, with amounts around `monthly` whose mean is `monthly`. */
function monthsBefore(now: Date, monthly: number): Record<string, number> {
  const today = new Date(now.getTime() - MONTH_ENDS_LATER_MS);
  const entries = Array.from({ length: MONTHS }, (_, index) => {
    const month = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - MONTHS + index, 1));
    const share = [0.98, 1.02, 1][index] ?? 1;
    return [month.toISOString().slice(0, 7), Math.round(monthly * share)] as const;
  });
  return Object.fromEntries(entries);
}

/** The PDF with an encryption dictionary, so that every reader asks for a password. */
function locked(pdf: Buffer): Buffer {
  const noise = 'a1'.repeat(32);
  const encrypt = `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${noise}> /U <${noise}> >>`;
  const id = `/ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`;
  return Buffer.from(pdf.toString('latin1').replace('/Root 1 0 R', `/Root 1 0 R ${encrypt} ${id}`), 'latin1');
}

/** A grey picture with nothing to read on it. */
function picture(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits of grey.
  head.set([8, 0, 0, 0, 0], 8);
  // Each row begins with the number of its filter, here 0 for none.
  const pixels = Buffer.alloc((width + 1) * height, 200);
  for (let row = 0; row < height; row += 1) pixels[row * (width + 1)] = 0;
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(pixels)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** The first page of an Ogg stream, which is enough to tell its type. */
const VOICE = Buffer.concat([
  Buffer.from('OggS\0\x02', 'latin1'),
  Buffer.alloc(20),
  Buffer.from('\x01\x13OpusHead\x01\x01', 'latin1'),
  Buffer.alloc(9),
]);
