/**
 * The rows of an XLSX sheet. A number is the one that the cell holds, with the text that it shows where they differ.
 */
import { type BulkError, bulkErrorAt } from '../bulk-error.ts';
import {
  type Cell,
  type FileRow,
  isBlank,
  MAX_COLUMNS,
  MAX_ROW_SIZE,
  TOO_MANY_COLUMNS,
  Unusable,
} from '../table.ts';
import { columnOf } from './merged-cells.ts';
import { GENERAL, type NumberFormat, numberCell, UNKNOWN } from './number-format.ts';
import { isTrue, type Workbook } from './workbook.ts';

/** Turns a sheet's XML into rows. */
export class SheetRows {
  readonly #file: string;
  readonly #workbook: Workbook;
  #rows: FileRow[] = [];
  #number = 0;
  #cells: Cell[] = [];
  #column = 0;
  #textLength = 0;
  #type = '';
  #style = 0;
  #text = '';
  #inValue = false;
  #inPronunciation = false;
  #hasValue = false;
  #hasFormula = false;
  #isHidden = false;
  #merged: string[] = [];
  /** The hidden columns, as pairs of the first and the last one, from 0. */
  readonly hiddenColumns: [first: number, last: number][] = [];

  constructor(file: string, workbook: Workbook) {
    this.#file = file;
    this.#workbook = workbook;
  }

  /** The rows that became whole since the last call. */
  take(): FileRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The references of merged cells since the last call. They stand after all rows. */
  takeMerged(): string[] {
    const merged = this.#merged;
    this.#merged = [];
    return merged;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    switch (name) {
      case 'row':
        this.#number = /^[1-9]\d{0,9}$/.test(attributes.r ?? '') ? Number(attributes.r) : this.#number + 1;
        this.#cells = [];
        this.#column = -1;
        this.#textLength = 0;
        this.#isHidden = isTrue(attributes.hidden) || Number(attributes.ht ?? 1) === 0;
        break;
      case 'c':
        this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
        if (!(this.#column <= MAX_COLUMNS)) {
          throw bulkErrorAt(this.#file, this.#number, null, TOO_MANY_COLUMNS);
        }
        this.#type = attributes.t ?? 'n';
        this.#style = Number(attributes.s ?? 0);
        this.#text = '';
        this.#hasValue = false;
        this.#hasFormula = false;
        break;
      case 'v':
      case 't':
        this.#inValue = !this.#inPronunciation;
        this.#hasValue = true;
        break;
      case 'rPh':
        this.#inPronunciation = true;
        break;
      case 'f':
        this.#hasFormula = true;
        break;
      case 'col':
        if (isTrue(attributes.hidden) || Number(attributes.width ?? 1) === 0)
          this.hiddenColumns.push([Number(attributes.min) - 1, Number(attributes.max) - 1]);
        break;
      case 'mergeCell':
        this.#merged.push(attributes.ref ?? '');
    }
  }

  text(text: string): void {
    if (!this.#inValue) return;
    this.#text += text;
    if (this.#text.length > MAX_ROW_SIZE) throw this.#tooLong();
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#inValue = false;
    else if (name === 'rPh') this.#inPronunciation = false;
    else if (name === 'c') this.#addCell();
    else if (name === 'row' && !isBlank(this.#cells)) {
      const row = { number: this.#number, cells: this.#cells, fault: null };
      this.#rows.push(this.#isHidden ? { ...row, isHidden: true } : row);
    }
  }

  #addCell(): void {
    const value = this.#value();
    if (value === null) return;
    // A short file can use one long text in every cell.
    if (typeof value === 'string') this.#textLength += value.length;
    if (this.#textLength > MAX_ROW_SIZE) throw this.#tooLong();
    while (this.#cells.length < this.#column) this.#cells.push(null);
    this.#cells[this.#column] = value;
  }

  #tooLong(): BulkError {
    return bulkErrorAt(this.#file, this.#number, null, {
      en: `it is longer than ${MAX_ROW_SIZE} characters`,
      es: `tiene más de ${MAX_ROW_SIZE} caracteres`,
      pt: `tem mais de ${MAX_ROW_SIZE} caracteres`,
    });
  }

  #value(): Cell {
    const text = this.#text;
    const { from1904, isUncalculated } = this.#workbook;
    // Only a text can be the empty result of a formula.
    const hasResult = this.#hasValue && (text !== '' || this.#type === 'str') && !isUncalculated;
    if (this.#hasFormula && !hasResult) return new Unusable('no_result', UNKNOWN);
    if (text === '') return null;
    switch (this.#type) {
      case 's': {
        const shared = this.#workbook.strings.get(Number(text));
        if (shared === undefined)
          throw bulkErrorAt(this.#file, this.#number, null, {
            en: 'the file is damaged: a text is missing',
            es: 'el archivo está dañado: falta un texto',
            pt: 'o arquivo está danificado: falta um texto',
          });
        return unescaped(shared);
      }
      case 'str':
      case 'inlineStr':
        return unescaped(text);
      case 'b':
        return text === '1' || text === 'true';
      case 'e':
        return new Unusable('error', text);
      case 'd':
        return new Unusable('date', text);
      default:
        return numberCell(text, this.#format(), from1904);
    }
  }

  /** Without its format nobody knows what a number shows: it may be an ID number with zeros before it, or a date. */
  #format(): NumberFormat {
    const format = this.#workbook.formats[this.#style];
    if (format !== undefined) return format;
    if (this.#style === 0 && this.#workbook.formats.length === 0) return GENERAL;
    throw bulkErrorAt(this.#file, this.#number, null, {
      en: 'its cells have formats that the file does not describe, so nobody knows what they show: open the file in a spreadsheet and save it again',
      es: 'sus celdas tienen formatos que el archivo no describe, y nadie sabe qué muestran: abre el archivo en una hoja de cálculo y guárdalo de nuevo',
      pt: 'as células têm formatos que o arquivo não descreve, e ninguém sabe o que mostram: abra o arquivo em uma planilha e salve-o de novo',
    });
  }
}

/** Characters that XML cannot hold are written as `_x000D_` (ECMA-376, part 1, 22.9.2.19). */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
