/** What an operator may do, by role: a role may do what the roles before it may. */

export const ROLES = ['viewer', 'reviewer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Whether an operator with the role may do what asks for `needed`. */
export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
