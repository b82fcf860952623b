/** A statement of debts of the made-up bank that the program has a layout of. */
import { pdfOf } from '../../src/subjects/simulator/made-up-files.ts';

type Rows = readonly (readonly string[])[];

/** What a statement of debts says. */
export interface DebtsStatement {
  readonly name: string;
  readonly idNumber: string;
  /** As the statement writes it: `12/11/2026`. */
  readonly asOf: string;
  /** Creditor, number, balance, and perhaps since when a payment is missing. */
  readonly rows: Rows;
  /** null: it has no line with the total. */
  readonly total: string | null;
}

/** The rows of the page. */
export function debtsRows({ name, idNumber, asOf, rows, total }: DebtsStatement): Rows {
  return [
    ['Banco Palma S.A.', 'Empresa inventada'],
    ['ESTADO DE OBLIGACIONES'],
    [`Titular: ${name}`],
    [`Documento: CC ${idNumber}`],
    [`Saldos al: ${asOf}`],
    ['Obligaciones vigentes'],
    ['Acreedor', 'Número', 'Saldo', 'En mora desde'],
    ...rows,
    ...(total === null ? [] : [['Total adeudado', total]]),
  ];
}

/** The lines that the reader finds in these rows. */
export function linesOf(rows: Rows): string[] {
  return rows.map((cells) => cells.join('  '));
}

/** In points: a page has room for four columns of this width. */
const FOUR_TO_A_PAGE = 130;

/** The statement as a PDF of one page. */
export function debtsPdf(statement: DebtsStatement): Buffer {
  return pdfOf([debtsRows(statement)], FOUR_TO_A_PAGE);
}
