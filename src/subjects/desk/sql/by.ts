/**
 * An operator as the desk names one, and the SQL that reads it with the present login. Pure: only a part of statements.
 */

/** An operator with the present login. */
export interface By {
  readonly id: number;
  readonly login: string;
}

/** Reads a `By`: the id of an operator, and the table joined by it. NULL: there is no id. */
export function by(id: string, operators: string): string {
  return `CASE WHEN ${id} IS NOT NULL THEN json_build_object('id', ${id}, 'login', coalesce(${operators}.login, '')) END`;
}
