/**
 * Writes a workbook with one sheet (ECMA-376): numbers and times are cells of their kind, and a text is a text,
 * whatever it begins with. A row is written as it comes.
 */
import { Archive } from './archive.ts';
import { type Cell, type FileWriter, mayBeFormula } from './cell.ts';

const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The formats of cells, by their place in `styles.xml`. A quoted text stays one also where somebody edits it. */
const STYLE = { plain: 0, time: 1, quoted: 2, head: 3 } as const;
const STYLES = `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf quotePrefix="1"/><xf fontId="1" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

const AROUND: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${CONTENT}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/></Types>`,
  '_rels/.rels': `${XML}<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': STYLES,
};

/** A sheet's name has 31 characters at most, and none of these. */
const sheetName = (title: string) => [...title.replace(/[[\]:*?/\\']/g, ' ')].slice(0, 31).join('');

/** A workbook whose one sheet has this title and this head. */
export function xlsxFile(title: string, head: readonly string[]): FileWriter {
  const archive = new Archive();
  const workbook = `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="${escaped(sheetName(title))}" sheetId="1" r:id="r1"/></sheets></workbook>`;
  for (const [name, text] of Object.entries({ ...AROUND, 'xl/workbook.xml': workbook }))
    archive.begin(name)(text, true);
  const write = archive.begin('xl/worksheets/sheet1.xml');
  write(
    `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="${head.length}" width="20" customWidth="1"/></cols><sheetData>`,
  );
  write(rowOf(1, head, (text, place) => textCell(text, place, STYLE.head)));
  let last = 1;
  return {
    add(rows) {
      write(rows.map((cells, index) => rowOf(last + 1 + index, cells, cellOf)).join(''));
      last += rows.length;
    },
    end() {
      write('</sheetData></worksheet>', true);
      return archive.end(TYPE);
    },
  };
}

const DAY_MS = 86_400_000;
/** Days from the epoch of spreadsheets to that of JavaScript. */
const EPOCH_DAYS = 25_569;

/** A row by its number, from 1 on. A sheet has 26 columns at most. */
function rowOf<T>(number: number, cells: readonly T[], write: (cell: T, place: string) => string): string {
  const written = cells.map((cell, index) => write(cell, `${String.fromCharCode(65 + index)}${number}`));
  return `<row r="${number}">${written.join('')}</row>`;
}

function cellOf(cell: Cell, place: string): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
  if (cell instanceof Date) {
    const seconds = Math.floor(cell.getTime() / 1_000) * 1_000;
    return `<c r="${place}" s="${STYLE.time}"><v>${seconds / DAY_MS + EPOCH_DAYS}</v></c>`;
  }
  return textCell(cell, place, mayBeFormula(cell) ? STYLE.quoted : STYLE.plain);
}

function textCell(text: string, place: string, style: number): string {
  return `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML has no control characters, and no halves of characters. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (one) => ENTITIES[one]!);
}
