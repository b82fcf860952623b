/**
 * How the history and the record of acts name who has an account: an operator, or a person at a partner (docs/audit.md,
 * "What is recorded"). Pure.
 */
import { type Authority, authorityText, type Role } from './authority.ts';

/** Whose an account is; `partnerId` is null for an operator's. */
export interface AccountId {
  readonly id: number;
  readonly partnerId: number | null;
}

/** The name of an account of either kind. */
export function accountName({ id, partnerId }: AccountId): string {
  return partnerId === null ? operatorName(id) : `account ${id}`;
}

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
