/** A cell of a file: a number, a text, a time, or nothing. */
export type Cell = number | string | Date | null;

/** Whether a spreadsheet may take the text for a formula (OWASP, "CSV Injection"). */
export function mayBeFormula(text: string): boolean {
  return /^[=+\-@\t\r]/.test(text);
}

/** What a file is written with, row by row. Times are in UTC, whole seconds. */
export interface FileWriter {
  add(rows: readonly (readonly Cell[])[]): void;
  end(): Blob;
}
