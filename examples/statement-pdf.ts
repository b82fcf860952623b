/**
 * Makes PDFs that look like the earnings statements of the made-up platforms of `src/documents/layouts`: for the
 * demonstration and for tests. No statement of a real platform looks like these.
 */

/** What a statement says. */
export interface Statement {
  /** The id of a layout. */
  readonly layout: 'rodar-co-1' | 'entrega-ya-mx-1' | 'corre-mais-br-1';
  readonly name: string;
  readonly idNumber: string;
  /** The day on which it was made: `2026-11-12`. */
  readonly issued: string;
  /** The amounts by month: `2026-08`. */
  readonly months: Readonly<Record<string, number>>;
}

const SPANISH =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');
const PORTUGUESE =
  'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'.split(' ');

/** A row is one cell, or cells at these places of a line. */
type Row = readonly string[];

/** The rows of a statement, as they stand in the PDF. */
export function statementRows({ layout, name, idNumber, issued, months }: Statement): Row[] {
  const [year = '', month = '', day = ''] = issued.split('-');
  const rows = Object.entries(months).map(([one, amount], index) => {
    const [ofYear = '', number = ''] = one.split('-');
    return { year: ofYear, index: Number(number) - 1, amount, count: String(190 + index * 7) };
  });
  const total = Object.values(months).reduce((sum, amount) => sum + amount, 0);
  switch (layout) {
    case 'rodar-co-1':
      return [
        ['Rodar Colombia S.A.S.', 'Empresa inventada'],
        ['CERTIFICADO DE INGRESOS'],
        [`Conductor: ${name}`],
        [`Documento: CC ${idNumber}`],
        [`Fecha de expedición: ${day}/${month}/${year}`],
        ['Ingresos por mes'],
        ['Mes', 'Viajes', 'Ingresos netos'],
        ...rows.map((row) => [
          `${capital(SPANISH[row.index])} de ${row.year}`,
          row.count,
          `$ ${money(row.amount, '.', ',')}`,
        ]),
        ['Total del periodo', '', `$ ${money(total, '.', ',')}`],
      ];
    case 'entrega-ya-mx-1':
      return [
        ['Entrega Ya, S.A. de C.V.', 'Empresa inventada'],
        ['CONSTANCIA DE GANANCIAS DEL REPARTIDOR'],
        ['Nombre del repartidor', name],
        ['CURP', idNumber],
        [`Emitida el ${Number(day)} de ${SPANISH[Number(month) - 1]} de ${year}`],
        ['Mes', 'Pedidos', 'Ganancias (MXN)'],
        ...rows.map((row) => [
          `${SPANISH[row.index]?.slice(0, 3)} ${row.year}`,
          row.count,
          `$${money(row.amount, ',', '.')}`,
        ]),
        ['Suma', '', `$${money(total, ',', '.')}`],
      ];
    case 'corre-mais-br-1':
      return [
        ['Corre Mais Entregas Ltda.', 'Empresa inventada'],
        ['INFORME DE RENDIMENTOS DO ENTREGADOR'],
        [`Nome do entregador: ${name}`],
        [`CPF: ${idNumber}`],
        [`Data de emissão: ${day}/${month}/${year}`],
        ['Rendimentos mensais'],
        ...rows.map((row) => [
          `${PORTUGUESE[row.index]}/${row.year}`,
          '',
          `R$ ${money(row.amount, '.', ',')}`,
        ]),
        ['Total', '', `R$ ${money(total, '.', ',')}`],
      ];
  }
}

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

/** Two decimals, with these marks for thousands and decimals. */
function money(amount: number, thousands: string, decimal: string): string {
  const [whole = '', decimals = ''] = amount.toFixed(2).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, thousands)}${decimal}${decimals}`;
}

function capital(word = ''): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
