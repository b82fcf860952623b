/**
 * How the history and the record of acts name an operator who has an account (docs/audit.md, "What is recorded"). Pure.
 */
import { type Authority, authorityText, type Role } from './authority.ts';

/** The name is made from the id, because the id never changes. */
export function operatorName(id: number): string {
  return `operator ${id}`;
}

/** The name with the operator's role and authority from now on, for the record of acts. */
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
