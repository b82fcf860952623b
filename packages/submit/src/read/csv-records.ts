/**
 * Cuts CSV text (RFC 4180) into records, in whatever pieces the text comes. csv-parse was the largest cost of
 * `ventanilla submit`, so this file replaces it; the tests compare the two. The platform's own split cuts lines without
 * quotes, and only a record with quotes is read cell by cell.
 */

import type { Words } from '../../../../src/ground/base/language.ts';

/** Says why the text is no CSV, and where. Quotes nothing of the text. */
class CsvFault extends Error {
  readonly words: Words;
  /** Number of the record, from 1. */
  readonly record: number;
  /** Index of the cell, from 0; null for the record as a whole. */
  readonly cell: number | null;

  constructor(words: Words, record: number, cell: number | null) {
    super(words.en);
    this.words = words;
    this.record = record;
    this.cell = cell;
  }
}

const NEVER_CLOSED: Words = {
  en: 'a quote is opened and never closed',
  es: 'se abre una comilla y no se cierra',
};
const BREAK = /\r\n|[\r\n]/;
const BREAKS = /\r\n|[\r\n]/g;

/** A record with quotes, and where the next one begins; null where the text ends before the record does. */
type Quoted = { readonly cells: string[]; readonly next: number } | null;

export class CsvRecords {
  readonly #delimiter: string;
  readonly #maxCharacters: number;
  /** The text from the first record on that is not whole yet. */
  #text = '';
  /** The text is read again at this length, so that a long record in many pieces is read a few times only. */
  #readAt = 0;
  #records = 0;
  #lines: number;
  #fault: CsvFault | null = null;

  /** `linesBefore` matters only for the line numbers in the texts of faults. */
  constructor(delimiter: string, maxCharacters: number, linesBefore = 0) {
    this.#delimiter = delimiter;
    this.#maxCharacters = maxCharacters;
    this.#lines = linesBefore;
  }

  /** The fault that ended the reading; null while there is none. After a fault no records come. */
  get fault(): CsvFault | null {
    return this.#fault;
  }

  /** The records that became whole, empty lines included. */
  add(piece: string): string[][] {
    this.#text += piece;
    return this.#text.length < this.#readAt ? [] : this.#take(false);
  }

  /** The last records; the last one needs no line break. */
  end(): string[][] {
    return this.#take(true);
  }

  #take(isLast: boolean): string[][] {
    const records: string[][] = [];
    if (this.#fault !== null) return records;
    try {
      this.#takeInto(records, isLast);
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error;
      this.#fault = error;
    }
    return records;
  }

  #takeInto(records: string[][], isLast: boolean): void {
    const text = this.#text;
    let start = 0;
    while (start < text.length) {
      const quote = text.indexOf('"', start);
      const end = quote === -1 ? endOfLines(text, start, isLast) : startOfLine(text, start, quote);
      this.#takeLines(text.slice(start, end), records);
      start = end;
      if (quote === -1) break;
      const quoted = this.#quoted(text, start, isLast);
      if (quoted === null) break;
      this.#lines += breaksIn(text.slice(start, quoted.next));
      this.#push(quoted.cells, quoted.next - start, records);
      start = quoted.next;
    }
    this.#text = text.slice(start);
    if (this.#text.length > this.#maxCharacters) throw this.#tooLong();
    this.#readAt = Math.min(2 * this.#text.length, this.#maxCharacters);
  }

  /** Takes whole lines without quotes. */
  #takeLines(text: string, records: string[][]): void {
    if (text === '') return;
    const lines = text.split(text.includes('\r') ? BREAK : '\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of lines) {
      this.#lines += 1;
      this.#push(line.split(this.#delimiter), line.length, records);
    }
  }

  #push(cells: string[], characters: number, records: string[][]): void {
    if (characters > this.#maxCharacters) throw this.#tooLong();
    this.#records += 1;
    records.push(cells);
  }

  #quoted(text: string, start: number, isLast: boolean): Quoted {
    const cells: string[] = [];
    for (let at = start; ; at += 1) {
      if (text[at] === '"') {
        const close = closingQuote(text, at);
        if (close === -1 && isLast) throw this.#faultIn(cells, NEVER_CLOSED);
        if (close === -1 || (close + 1 === text.length && !isLast)) return null;
        if (!this.#endsCell(text[close + 1])) throw this.#stray(text, start, close, cells);
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        at = close + 1;
      } else {
        const end = text[at] === '=' ? this.#endOfFormula(text, at, isLast) : this.#endOfPlainCell(text, at);
        if (text[end] === '"') throw this.#stray(text, start, end, cells);
        cells.push(text.slice(at, end));
        at = end;
      }
      if (text[at] === this.#delimiter) continue;
      return isLast || isWhole(text, at) ? { cells, next: afterLineBreak(text, at) } : null;
    }
  }

  /** The end of a cell that begins without a quote, or its first quote. */
  #endOfPlainCell(text: string, start: number): number {
    let end = start;
    while (!this.#endsCell(text[end]) && text[end] !== '"') end += 1;
    return end;
  }

  /**
   * The end of a cell such as `="0012"`, whose own quotes belong to its text, as spreadsheets read it; or its first
   * quote that is not closed in the same line.
   */
  #endOfFormula(text: string, start: number, isLast: boolean): number {
    let open = -1;
    for (let end = start; ; end += 1) {
      const sign = text[end];
      if (sign === '"') open = open < 0 ? end : -1;
      else if (open < 0 && this.#endsCell(sign)) return end;
      else if (sign === '\n' || sign === '\r' || (sign === undefined && isLast)) return open;
      else if (sign === undefined) return end;
    }
  }

  #endsCell(follows: string | undefined): boolean {
    return follows === undefined || follows === this.#delimiter || follows === '\n' || follows === '\r';
  }

  #stray(text: string, start: number, at: number, cells: readonly string[]): CsvFault {
    const line = this.#lines + 1 + breaksIn(text.slice(start, at));
    return this.#faultIn(cells, {
      en: `a quote stands inside a value (line ${line}): put the value in quotes and write the quote twice`,
      es: `hay una comilla dentro de un valor (línea ${line}): pon el valor entre comillas y escribe la comilla dos veces`,
    });
  }

  #faultIn(cells: readonly string[], what: Words): CsvFault {
    return new CsvFault(what, this.#records + 1, cells.length);
  }

  #tooLong(): CsvFault {
    const what = {
      en: `it is longer than ${this.#maxCharacters} characters: is a quote never closed?`,
      es: `tiene más de ${this.#maxCharacters} caracteres: ¿falta cerrar una comilla?`,
    };
    return new CsvFault(what, this.#records + 1, null);
  }
}

/** The end of the last whole line; with `isLast`, the end of the text. */
function endOfLines(text: string, start: number, isLast: boolean): number {
  if (isLast) return text.length;
  const rest = text.slice(start);
  // A carriage return at the very end may be half of a line break.
  return start + Math.max(rest.lastIndexOf('\n'), rest.slice(0, -1).lastIndexOf('\r')) + 1;
}

function startOfLine(text: string, start: number, end: number): number {
  const before = text.slice(start, end);
  return start + Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1;
}

function breaksIn(text: string): number {
  return text.match(BREAKS)?.length ?? 0;
}

/** True where a line break at `end` is whole: a carriage return at the very end may be half of one. */
function isWhole(text: string, end: number): boolean {
  return end < text.length && (text[end] === '\n' || end + 1 < text.length);
}

function afterLineBreak(text: string, end: number): number {
  return text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
}

/** The index of the closing quote; -1 where there is none. */
function closingQuote(text: string, open: number): number {
  for (let from = open + 1; ; from += 2) {
    from = text.indexOf('"', from);
    if (from === -1 || text[from + 1] !== '"') return from;
  }
}
