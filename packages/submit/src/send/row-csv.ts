/** The lines of the CSV files about rows. Submitting a file of rejected rows takes off what neutralises its cells. */
import { neutralised, REASON_COLUMN, ROW_COLUMN } from '../read/rejected-rows.ts';
import { type Cell, type FileRow, ShownNumber, Unusable } from '../read/table.ts';
import { MAX_EXACT, UNKNOWN } from '../read/xlsx/number-format.ts';

/** Tells spreadsheets that the file is UTF-8. */
export const MARK = '\ufeff';

/** A line of such a file, with its end. No spreadsheet takes a cell of it for a formula. */
export function csvLine(texts: readonly string[], delimiter: string): string {
  return `${texts.map((text) => quoted(neutralised(text), delimiter)).join(delimiter)}\r\n`;
}

function quoted(text: string, delimiter: string): string {
  if (!text.includes(delimiter) && !/["\r\n]/.test(text) && text.trim() === text) return text;
  return `"${text.replaceAll('"', '""')}"`;
}

/** The cells of a file of rejected rows: number and reason, and then the row as it was. */
export interface RejectedForm {
  readonly header: readonly string[];
  line(row: FileRow, reason: string): string[];
}

export function rejectedForm(columns: readonly string[]): RejectedForm {
  // The columns that an earlier file of this kind added are left out.
  const kept = [...columns.entries()].flatMap(([index, name]) =>
    [ROW_COLUMN, REASON_COLUMN].includes(name) ? [] : [index],
  );
  return {
    header: [ROW_COLUMN, REASON_COLUMN, ...kept.map((index) => columns[index] ?? '')],
    line({ number, cells }, reason) {
      const beyond = cells.slice(columns.length);
      return [String(number), reason, ...[...kept.map((index) => cells[index]), ...beyond].map(textOf)];
    },
  };
}

/** A number with a point before three digits, which would be read as thousands. */
const AMBIGUOUS_NUMBER = /^-?\d{1,3}\.\d{3}$/;
const NUMBER = /^[\d.,\s]+$/;

/** The text of a cell, from which the same cell is read again. */
export function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Unusable) return cell.text;
  if (cell instanceof ShownNumber && cell.currency !== null)
    return `${cell.currency.word} ${textOf(cell.value)}`;
  if (cell instanceof ShownNumber) {
    // Read as an amount, such a text would be another number than the cell holds.
    return !cell.isSame && NUMBER.test(cell.text) ? `${UNKNOWN} ${cell.text}` : cell.text;
  }
  // Its last digits may be cut, and as a text they would count. From 1e21 on the text has an exponent, which tells.
  if (typeof cell === 'number' && cell >= MAX_EXACT && cell < 1e21) return `${UNKNOWN} ${cell}`;
  if (typeof cell === 'object') return JSON.stringify(cell);
  const text = String(cell);
  return typeof cell === 'number' && AMBIGUOUS_NUMBER.test(text) ? `${text}0` : text;
}
