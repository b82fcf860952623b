/** The errors that stop a submission, with texts for the person who started it. */

import { ToldError } from '../../base/told-error.ts';

/** Names the file and, where there are any, row and column. Never shows a value of a row. */
export class BulkError extends ToldError {}

/** The error `applicants.csv, row 7, column "Ingreso": what`. Rows count as a spreadsheet shows them. */
export function bulkErrorAt(
  file: string,
  row: number | null,
  column: string | null,
  what: string,
): BulkError {
  const place = [file];
  if (row !== null) place.push(`row ${row}`);
  if (column !== null) place.push(`column "${column}"`);
  return new BulkError(`${place.join(', ')}: ${what}`);
}
