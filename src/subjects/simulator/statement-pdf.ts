/** Makes PDFs that look like the earnings statements of made-up platforms. */
import { type Row, type Statement, statementRows } from './statement-rows.ts';

/** A statement as a PDF of one page. */
export function statementPdf(statement: Statement): Buffer {
  return pdfOf([statementRows(statement)]);
}

/** A PDF with a page for each list of rows, in Helvetica. Characters beyond Latin-1 become question marks. */
export function pdfOf(pages: readonly (readonly Row[])[]): Buffer {
  const objects: string[] = [];
  const add = (text: string) => objects.push(text);
  const numberOfPage = (index: number) => 4 + 2 * index;
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, n) => `${numberOfPage(n)} 0 R`).join(' ')}] >>`,
  );
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  for (const [index, rows] of pages.entries()) {
    const content = contentOf(rows);
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

function contentOf(rows: readonly Row[]): string {
  const texts = rows.flatMap((cells, line) =>
    cells.flatMap((cell, column) =>
      cell === ''
        ? []
        : [`1 0 0 1 ${LEFT + column * COLUMN_WIDTH} ${TOP - line * LINE_HEIGHT} Tm (${escaped(cell)}) Tj`],
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
