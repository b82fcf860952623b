/**
 * SQL of a time column moved by an interval. A sum with the column itself would ask for the session's time zone, which
 * no changing statement may do where the database is spread over machines.
 */
export const shifted = (column: string, by: string) =>
  `(${column} AT TIME ZONE 'UTC' + ${by}) AT TIME ZONE 'UTC'`;
