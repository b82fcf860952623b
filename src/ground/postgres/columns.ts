/** The values of rows, column by column: arrays that a statement reads by `unnest`. Pure. */
export function columnsOf<Row>(rows: readonly Row[], ...columns: readonly (keyof Row)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => row[column]));
}
