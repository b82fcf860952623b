/**
 * Cuts CSV text (RFC 4180) into records, in whatever pieces it comes. Written here because nothing else cost
 * `ventanilla submit` more CPU than csv-parse did, which the tests compare it with: here a line without quotes is one
 * split, and only a record with quotes is read cell by cell.
 */

/** Why the text is no CSV, and where. Nothing of the text is quoted. */
export class CsvFault extends Error {
  /** Which record it is, from 1. */
  readonly record: number;
  /** Which cell of it, from 0; null where it is the record as a whole. */
  readonly cell: number | null;

  constructor(what: string, record: number, cell: number | null) {
    super(what);
    this.record = record;
    this.cell = cell;
  }
}

/** A record with quotes, and where the next one begins; null: the text ends before it does. */
type Quoted = { readonly cells: string[]; readonly next: number } | null;

export class CsvRecords {
  readonly #delimiter: string;
  readonly #maxCharacters: number;
  /** Begins with the record that is not whole yet. */
  #text = '';
  #records = 0;
  #lines: number;
  #fault: CsvFault | null = null;

  /** `linesBefore` counts for the texts of faults alone. */
  constructor(delimiter: string, maxCharacters: number, linesBefore = 0) {
    this.#delimiter = delimiter;
    this.#maxCharacters = maxCharacters;
    this.#lines = linesBefore;
  }

  /**
   * The records that are whole with this piece, empty lines included. A `CsvFault` is thrown by the call after the
   * one that gave the records before it.
   */
  add(piece: string): string[][] {
    this.#text += piece;
    return this.#take(false);
  }

  /** The last record, where no line break ends it. Throws `CsvFault`. */
  end(): string[][] {
    const records = this.#take(true);
    if (this.#fault !== null) throw this.#fault;
    return records;
  }

  #take(isLast: boolean): string[][] {
    if (this.#fault !== null) throw this.#fault;
    const records: string[][] = [];
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
    const marks = { line: new Mark(text, '\n'), return: new Mark(text, '\r'), quote: new Mark(text, '"') };
    let start = 0;
    while (start < text.length) {
      const end = Math.min(marks.line.from(start), marks.return.from(start), text.length);
      let cells: string[];
      let next: number;
      if (marks.quote.from(start) < end) {
        const quoted = this.#quoted(text, start, marks, isLast);
        if (quoted === null) break;
        ({ cells, next } = quoted);
        this.#lines += text.slice(start, next).match(/\r\n|[\r\n]/g)?.length ?? 0;
      } else {
        if (!isLast && !isWhole(text, end)) break;
        cells = text.slice(start, end).split(this.#delimiter);
        next = after(text, end);
        this.#lines += 1;
      }
      if (next - start > this.#maxCharacters) throw this.#tooLong();
      this.#records += 1;
      records.push(cells);
      start = next;
    }
    this.#text = text.slice(start);
    if (this.#text.length > this.#maxCharacters) throw this.#tooLong();
  }

  #quoted(text: string, start: number, marks: Marks, isLast: boolean): Quoted {
    const cells: string[] = [];
    for (let at = start; ; at += 1) {
      if (text[at] === '"') {
        const close = closingQuote(text, at);
        if (close === -1 && isLast) throw this.#faultIn(cells, 'a quote is opened and never closed');
        if (close === -1 || (close + 1 === text.length && !isLast)) return null;
        if (!this.#endsCell(text[close + 1])) throw this.#stray(text, start, close, cells);
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        at = close + 1;
      } else {
        const lineEnd = Math.min(marks.line.from(at), marks.return.from(at), text.length);
        const delimiter = text.indexOf(this.#delimiter, at);
        const end = delimiter === -1 ? lineEnd : Math.min(delimiter, lineEnd);
        if (marks.quote.from(at) < end) throw this.#stray(text, start, at, cells);
        cells.push(text.slice(at, end));
        at = end;
      }
      if (text[at] === this.#delimiter) continue;
      return isLast || isWhole(text, at) ? { cells, next: after(text, at) } : null;
    }
  }

  #endsCell(follows: string | undefined): boolean {
    return follows === undefined || follows === this.#delimiter || follows === '\n' || follows === '\r';
  }

  #stray(text: string, start: number, at: number, cells: readonly string[]): CsvFault {
    const line = this.#lines + 1 + (text.slice(start, at).match(/\r\n|[\r\n]/g)?.length ?? 0);
    const what = `a quote stands inside a value (line ${line}): put the value in quotes and write the quote twice`;
    return this.#faultIn(cells, what);
  }

  #faultIn(cells: readonly string[], what: string): CsvFault {
    return new CsvFault(what, this.#records + 1, cells.length);
  }

  #tooLong(): CsvFault {
    const what = `it is longer than ${this.#maxCharacters} characters: is a quote never closed?`;
    return new CsvFault(what, this.#records + 1, null);
  }
}

interface Marks {
  readonly line: Mark;
  readonly return: Mark;
  readonly quote: Mark;
}

/** Where a character stands next; a text without it is searched once. */
class Mark {
  readonly #text: string;
  readonly #character: string;
  #next = -1;

  constructor(text: string, character: string) {
    this.#text = text;
    this.#character = character;
  }

  /** Infinity where there is none. `start` never goes back. */
  from(start: number): number {
    if (this.#next < start) {
      const found = this.#text.indexOf(this.#character, start);
      this.#next = found === -1 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#next;
  }
}

/** True where a line break at `end` is whole: a carriage return at the very end may be half of one. */
function isWhole(text: string, end: number): boolean {
  return end < text.length && (text[end] === '\n' || end + 1 < text.length);
}

function after(text: string, end: number): number {
  return text[end] === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1;
}

/** -1 where there is none. */
function closingQuote(text: string, open: number): number {
  for (let from = open + 1; ; from += 2) {
    from = text.indexOf('"', from);
    if (from === -1 || text[from + 1] !== '"') return from;
  }
}
