import { type Authority, authorityText, type Role } from './authority.ts';

/** How the history and the record of acts name an operator who has an account: by the id, which stays. */
export function operatorName(id: number): string {
  return `operator ${id}`;
}

/** The same with what the operator may do from now on, for the record of acts. */
export function operatorWithRole({
  id,
  role,
  authority,
}: {
  readonly id: number;
  readonly role: Role;
  readonly authority: Authority;
}): string {
  return `${operatorName(id)}: ${role}, decides alone on ${authorityText(authority) || 'nothing'}`;
}
