/** The errors that stop a submission, with texts for the person who started it. */
import { inEach, type Words } from '../../../../src/ground/base/language.ts';
import { ToldError } from '../../../../src/ground/base/told-error.ts';

/**
 * Names the file and, where there are any, row and column. Never shows a value of a row. The message is in English; the
 * command tells the words of its reader's language.
 */
export class BulkError extends ToldError {
  readonly words: Words;
  constructor(words: Words) {
    super(words.en);
    this.words = words;
  }
}

/** Says what is wrong with a part of a file. The reader of the file adds the place. */
export class Fault extends Error {
  readonly words: Words;
  constructor(words: Words) {
    super(words.en);
    this.words = words;
  }
}

const ROW: Words = { en: 'row', es: 'fila' };
export const COLUMN: Words = { en: 'column', es: 'columna' };

/** The error `applicants.csv, row 7, column "Ingreso": what`. Rows count as a spreadsheet shows them. */
export function bulkErrorAt(file: string, row: number | null, column: string | null, what: Words): BulkError {
  return new BulkError(
    inEach((language) => {
      const place = [file];
      if (row !== null) place.push(`${ROW[language]} ${row}`);
      if (column !== null) place.push(`${COLUMN[language]} "${column}"`);
      return `${place.join(', ')}: ${what[language]}`;
    }),
  );
}
