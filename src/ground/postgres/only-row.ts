/** The row of a statement that always gives one. Throws an `Error` if it gave none or several. */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`a statement gave ${rows.length} rows instead of one`);
  return row;
}
