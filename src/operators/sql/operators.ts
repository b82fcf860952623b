/** The accounts of operators. */
import { DAY_MS } from '../../base/time.ts';
import type { Session, Transaction } from '../../postgres/database.ts';
import { takeId } from '../../postgres/ids.ts';
import { onlyRow } from '../../postgres/only-row.ts';
import type { Authority } from '../rules/authority.ts';
import type { Role } from '../rules/role.ts';

/** An account as other operators see it. */
export interface Operator {
  readonly id: number;
  readonly login: string;
  readonly role: Role;
  readonly authority: Authority;
  readonly createdAt: Date;
  /** Since when both factors stand; null: the operator cannot sign in. */
  readonly enrolledAt: Date | null;
  readonly disabledAt: Date | null;
  /** null: nothing yet. */
  readonly signsInWith: FirstFactor | null;
}

/** What an operator signs in with: a password of this service, or an identity at the identity provider. */
export type FirstFactor = 'password' | 'oidc';

/** What the page needs to know of who is signed in. */
export interface Profile {
  readonly authority: Authority;
  readonly signsInWith: FirstFactor;
  /** Whether the account has an authenticator app. */
  readonly hasApp: boolean;
}

interface Row {
  id: number;
  login: string;
  role: Role;
  authority: Record<string, string>;
  created_at: Date;
  enrolled_at: Date | null;
  disabled_at: Date | null;
  signs_in_with: FirstFactor | null;
}

interface ProfileRow {
  authority: Row['authority'];
  signs_in_with: FirstFactor;
  has_app: boolean;
}

/** Amounts come as texts of hundredths: a number would not hold the largest. */
const AUTHORITY = `
  (SELECT coalesce(jsonb_object_agg(a.currency, (a.amount * 100)::bigint::text), '{}') FROM operator_authorities a
    WHERE a.operator_id = o.id) AS authority`;
const FIRST_FACTOR = `CASE WHEN o.password IS NULL THEN 'oidc' ELSE 'password' END`;
const COLUMNS = `o.id, o.login, o.role, o.created_at, o.enrolled_at, o.disabled_at, ${AUTHORITY},
  CASE WHEN o.enrolled_at IS NOT NULL AND o.disabled_at IS NULL THEN ${FIRST_FACTOR} END AS signs_in_with`;
const PROFILE = `
  SELECT ${AUTHORITY}, ${FIRST_FACTOR} AS signs_in_with, o.totp IS NOT NULL AS has_app FROM operators o WHERE o.id = $1`;
const LIST = `SELECT ${COLUMNS} FROM operators o ORDER BY o.id`;
const FIND = `SELECT ${COLUMNS} FROM operators o WHERE o.login = $1`;
const ANY_LIVE = `
  SELECT EXISTS (SELECT FROM operators o WHERE o.enrolled_at IS NOT NULL AND o.disabled_at IS NULL) AS any`;
const ADD = `
  INSERT INTO operators (id, login, role, enrolment, enrolment_ends)
  VALUES ($5, $1, $2, $3, now() + $4 * interval '1 millisecond')
  ON CONFLICT (login) DO NOTHING
  RETURNING id`;
const SET_AUTHORITY = `
  WITH gone AS (DELETE FROM operator_authorities WHERE operator_id = $1 AND currency <> ALL ($2::text[]))
  INSERT INTO operator_authorities AS a (operator_id, currency, amount)
  SELECT $1, u.currency, u.hundredths / 100.0 FROM unnest($2::text[], $3::bigint[]) AS u(currency, hundredths)
  ON CONFLICT (operator_id, currency) DO UPDATE SET amount = excluded.amount`;
const LOCK_ALL = 'SELECT id FROM operators ORDER BY id FOR NO KEY UPDATE';
const ADMINS = `
  SELECT count(*)::integer AS admins, count(enrolled_at)::integer AS enrolled
  FROM operators WHERE role = 'admin' AND disabled_at IS NULL`;
const SET_ROLE = 'UPDATE operators SET role = $2 WHERE id = $1';
const DISABLE = `
  WITH ended AS (DELETE FROM operator_sessions WHERE operator_id = $1),
    unbound AS (DELETE FROM operator_identities WHERE operator_id = $1)
  UPDATE operators SET disabled_at = now(), enrolment = NULL, enrolment_ends = NULL
  WHERE id = $1 AND disabled_at IS NULL`;

const LEAVE_DESK = 'SELECT leave_desk($1)';

/** All operators, the oldest first. */
export async function readOperators(session: Session): Promise<Operator[]> {
  return (await session.query<Row>(LIST)).rows.map(operatorOf);
}

/** The operator with this login; null if there is none. */
export async function findOperator(session: Session, login: string): Promise<Operator | null> {
  const { rows } = await session.query<Row>(FIND, [login]);
  return rows[0] === undefined ? null : operatorOf(rows[0]);
}

/** Whether there is an operator with factors whose account is not disabled. */
export async function canSomebodySignIn(session: Session): Promise<boolean> {
  return onlyRow((await session.query<{ any: boolean }>(ANY_LIVE)).rows).any;
}

/** Adds an operator, whose link has the token with this digest. Returns the id; null where the login is taken. */
export async function insertOperator(
  session: Session,
  { login, role, linkDigest }: { login: string; role: Role; linkDigest: Buffer },
): Promise<number | null> {
  const { rows } = await session.query<{ id: number }>(ADD, [
    ...[login, role, linkDigest, DAY_MS, await takeId(session, 'operators')],
  ]);
  return rows[0]?.id ?? null;
}

/** What the page needs to know of an operator. */
export async function readProfile(session: Session, id: number): Promise<Profile> {
  const { rows } = await session.query<ProfileRow>(PROFILE, [id]);
  const { authority, signs_in_with, has_app } = onlyRow(rows);
  return { authority: authorityOf(authority), signsInWith: signs_in_with, hasApp: has_app };
}

/** Replaces all amounts of an operator. */
export async function setAuthority(session: Session, id: number, authority: Authority): Promise<void> {
  await session.query(SET_AUTHORITY, [id, [...authority.keys()], [...authority.values()]]);
}

export async function setRole(session: Session, id: number, role: Role): Promise<void> {
  await session.query(SET_ROLE, [id, role]);
}

/** Ends the account's sessions and its link too, and unbinds its identity. */
export async function disableOperator(session: Session, id: number): Promise<void> {
  await session.query(DISABLE, [id]);
}

/** Gives everything back that an operator works on, who is gone. The transaction has locked the account. */
export async function leaveDesk(session: Transaction, id: number): Promise<void> {
  await session.query(LEAVE_DESK, [id]);
}

/** Locks all accounts until the transaction ends, so that two changes at once cannot remove the last two admins. */
export async function lockOperators(session: Transaction): Promise<void> {
  await session.query(LOCK_ALL);
}

/** How many admins there are, and how many of them can sign in. */
export async function countAdmins(session: Transaction): Promise<{ admins: number; enrolled: number }> {
  return onlyRow((await session.query<{ admins: number; enrolled: number }>(ADMINS)).rows);
}

function operatorOf({ id, login, role, authority, ...row }: Row): Operator {
  return {
    ...{ id, login, role, authority: authorityOf(authority), signsInWith: row.signs_in_with },
    ...{ createdAt: row.created_at, enrolledAt: row.enrolled_at, disabledAt: row.disabled_at },
  };
}

function authorityOf(hundredths: Row['authority']): Authority {
  return new Map(Object.entries(hundredths).map(([currency, text]) => [currency, BigInt(text)]));
}
