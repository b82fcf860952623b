/**
 * SQL of a time column moved by an interval. A sum with the column itself would depend on the session's time zone,
 * which is not allowed in an UPDATE where the database is spread over machines.
 */
export const shifted = (column: string, by: string) =>
  `(${column} AT TIME ZONE 'UTC' + ${by}) AT TIME ZONE 'UTC'`;
