/** Writes CSV (RFC 4180), in UTF-8 with a mark at its beginning, by which spreadsheets know it. Pure. */
import { type Cell, type FileWriter, mayBeFormula } from './cell.ts';

const BYTE_ORDER_MARK = '\ufeff';

export function csvFile(head: readonly string[]): FileWriter {
  const parts = [BYTE_ORDER_MARK, lineOf(head)];
  return {
    add(rows) {
      parts.push(rows.map(lineOf).join(''));
    },
    end() {
      return new Blob(parts, { type: 'text/csv;charset=utf-8' });
    },
  };
}

function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(textOf).join(',')}\r\n`;
}

function textOf(cell: Cell): string {
  if (cell === null) return '';
  if (cell instanceof Date) return cell.toISOString().slice(0, 19).replace('T', ' ');
  if (typeof cell === 'number') return String(cell);
  const text = mayBeFormula(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
