/** What stops a bulk submission; the text is for the person who started it. */

/** Names the file and, where there is one, row and column; never shows a value. */
export class BulkError extends Error {}

/** `applicants.csv, row 7, column "Ingreso": what`. Rows count as a spreadsheet shows them. */
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
