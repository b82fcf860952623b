/** The errors that stop a submission, with texts for the person who started it. */
import type { Words } from '../../../../src/ground/base/language.ts';
import { ToldError } from '../../../../src/ground/base/told-error.ts';
import type { FileLanguage, FileWords } from './file-words.ts';

/**
 * Names the file and, where there are any, row and column. Never shows a value of a row. The message is in English; the
 * command tells the words of its reader's language. What the reader of files says is in Portuguese too.
 */
export class BulkError extends ToldError {
  readonly words: Words & Partial<FileWords>;
  constructor(words: Words & Partial<FileWords>) {
    super(words.en);
    this.words = words;
  }
}

/** Says what is wrong with a part of a file. The reader of the file adds the place. */
export class Fault extends Error {
  readonly words: FileWords;
  constructor(words: FileWords) {
    super(words.en);
    this.words = words;
  }
}

const ROW: FileWords = { en: 'row', es: 'fila', pt: 'linha' };
export const COLUMN: FileWords = { en: 'column', es: 'columna', pt: 'coluna' };

/** The error `applicants.csv, row 7, column "Ingreso": what`. Rows count as a spreadsheet shows them. */
export function bulkErrorAt(
  file: string,
  row: number | null,
  column: string | null,
  { en, es, pt }: BulkError['words'],
): BulkError {
  const at = (language: FileLanguage, what: string) => {
    const place = [file];
    if (row !== null) place.push(`${ROW[language]} ${row}`);
    if (column !== null) place.push(`${COLUMN[language]} "${column}"`);
    return `${place.join(', ')}: ${what}`;
  };
  return new BulkError({ en: at('en', en), es: at('es', es), ...(pt !== undefined && { pt: at('pt', pt) }) });
}
