/** Operators, as the desk names them. */

/** An operator with the login as it is now. */
export interface By {
  readonly id: number;
  readonly login: string;
}

/** Reads a `By`: the number of an operator, and the table joined by it. NULL where there is no number. */
export function by(id: string, operators: string): string {
  return `CASE WHEN ${id} IS NOT NULL THEN json_build_object('id', ${id}, 'login', coalesce(${operators}.login, '')) END`;
}
