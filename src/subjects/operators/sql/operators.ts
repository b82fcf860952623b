/**
 * The accounts of operators as other operators see and change them (docs/operators.md). Reads and writes `operators`,
 * ends `operator_sessions`, and calls `leave_desk`.
 */
import type { Authority, PartnerRole, Role } from '../../../domain/operator/authority.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { later, micros } from '../../../ground/postgres/database-time.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import {
  type Account,
  type AccountChange,
  type AccountRow,
  accountColumns,
  accountOf,
  changeAccount,
  insertAccount,
  toAccount,
} from './account.ts';
import { endSessions } from './sessions.ts';

/** An account of either kind as others see it. */
export interface ShownAccount {
  readonly id: number;
  readonly login: string;
  readonly partnerId: PartnerId | null;
  readonly role: Role | PartnerRole;
  readonly authority: Authority;
  readonly createdAt: Date;
  /** When both factors were set; null: the operator cannot sign in. */
  readonly enrolledAt: Date | null;
  readonly disabledAt: Date | null;
  /** null: no factor is set yet. */
  readonly signsInWith: FirstFactor | null;
  /** The row is forged: the account may do nothing, and can only be disabled. */
  readonly isForged: boolean;
}

/** An operator as other operators see one. */
export interface Operator extends ShownAccount {
  readonly role: Role;
}

/** What an operator signs in with: a password of this service, or an identity at the identity provider. */
export type FirstFactor = 'password' | 'oidc';

/** What the page has to know about the operator who is signed in. */
export interface Profile {
  readonly authority: Authority;
  readonly signsInWith: FirstFactor;
  /** Whether the account has an authenticator app. */
  readonly hasApp: boolean;
}

export type ShownRow = AccountRow & { readonly createdAt: Date };

/** The columns of an account that is shown. */
export const SHOWN_COLUMNS = `${accountColumns('o')}, o.created_at AS "createdAt"`;
const LIST = `SELECT ${SHOWN_COLUMNS} FROM operators o WHERE o.partner_id IS NULL ORDER BY o.id`;
const FIND = `SELECT ${SHOWN_COLUMNS} FROM operators o WHERE o.login = $1 AND o.partner_id IS NULL FOR NO KEY UPDATE`;
const BY_ID = `SELECT ${SHOWN_COLUMNS} FROM operators o WHERE o.id = $1`;
const NOW = `SELECT ${micros('now()')} AS now`;
const LOCK_ALL = 'SELECT id FROM operators WHERE partner_id IS NULL ORDER BY id FOR NO KEY UPDATE';

const LEAVE_DESK = 'SELECT leave_desk($1)';

/** All operators, the oldest first. */
export async function readOperators(session: Session, vault: Vault): Promise<Operator[]> {
  return (await session.query<ShownRow>(LIST)).rows.map((row) => operatorOf(vault, row));
}

/** An operator with this login, and the account if it may be changed. */
export interface Found {
  readonly operator: Operator;
  /** As it is stored. */
  readonly stored: Account;
  /** null: the row is forged. */
  readonly account: Account | null;
}

/** The operator with this login, locked until the transaction ends; null if there is none. */
export async function lockOperator(session: Session, vault: Vault, login: string): Promise<Found | null> {
  const [row] = (await session.query<ShownRow>(FIND, [login])).rows;
  if (row === undefined) return null;
  return { operator: operatorOf(vault, row), stored: toAccount(row), account: accountOf(vault, row) };
}

/** Whether there is an operator with factors whose account is not disabled. */
export async function canSomebodySignIn(session: Session, vault: Vault): Promise<boolean> {
  const operators = await readOperators(session, vault);
  return operators.some((one) => !one.isForged && one.enrolledAt !== null && one.disabledAt === null);
}

/** Adds an operator whose link has the token with this digest. Returns the id; null if the login is taken. */
export function insertOperator(
  session: Session,
  vault: Vault,
  operator: { login: string; role: Role; authority?: Authority; linkDigest: Buffer },
): Promise<number | null> {
  return insertInvited(session, vault, { ...operator, partnerId: null });
}

/** The same for an account of either kind. */
export async function insertInvited(
  session: Session,
  vault: Vault,
  {
    login,
    partnerId,
    role,
    authority = new Map(),
    linkDigest,
  }: Pick<Account, 'login' | 'partnerId' | 'role'> & { authority?: Authority; linkDigest: Buffer },
): Promise<number | null> {
  const { now } = onlyRow((await session.query<{ now: string }>(NOW)).rows);
  const account: Account = {
    id: await takeId(session, 'operators'),
    login,
    partnerId,
    role,
    authority,
    now,
    nowMs: Number(now) / 1000,
    password: null,
    totp: null,
    totpStep: 0,
    identity: null,
    recoveryCodes: [],
    enrolledAt: null,
    disabledAt: null,
    link: { digest: linkDigest, ends: later(now, DAY_MS) },
  };
  return (await insertAccount(session, vault, account)) ? account.id : null;
}

/** The account of an operator as it is now, disabled or not; null if there is none, or if it is forged. */
export async function readAccount(session: Session, vault: Vault, id: number): Promise<Account | null> {
  return accountOf(vault, (await session.query<ShownRow>(BY_ID, [id])).rows[0]);
}

/** What the page has to know about an operator. Throws if the account is forged. */
export async function readProfile(session: Session, vault: Vault, id: number): Promise<Profile> {
  const account = await readAccount(session, vault, id);
  if (account === null) throw new Error(`operator ${id} has no account`);
  const { authority, totp } = account;
  return { authority, signsInWith: firstFactorOf(account), hasApp: totp !== null };
}

/** Gives a locked account another role, or other amounts. */
export async function setRights(
  session: Session,
  vault: Vault,
  account: Account,
  change: Pick<AccountChange, 'role' | 'authority'>,
): Promise<void> {
  await changeAccount(session, vault, account, change);
}

/** Ends a locked account, its sessions and its link, and unbinds its identity. The account may be forged. */
export async function disableOperator(session: Session, vault: Vault, account: Account): Promise<void> {
  await endSessions(session, account.id);
  await changeAccount(session, vault, account, { disabledAt: account.now, link: null, identity: null });
}

/** Gives back everything that an operator who is gone works on. The transaction has locked the account. */
export async function leaveDesk(session: Transaction, id: number): Promise<void> {
  await session.query(LEAVE_DESK, [id]);
}

/** Locks all accounts until the transaction ends, so that two changes at once cannot remove the last two admins. */
export async function lockOperators(session: Transaction): Promise<void> {
  await session.query(LOCK_ALL);
}

/** The statements here read rows of operators alone. */
function operatorOf(vault: Vault, row: ShownRow): Operator {
  return shownOf(vault, row) as Operator;
}

/** What is shown of a row. */
export function shownOf(vault: Vault, row: ShownRow): ShownAccount {
  const account = toAccount(row);
  const { id, login, partnerId, role, authority, enrolledAt, disabledAt } = account;
  return {
    id,
    login,
    partnerId,
    role,
    authority,
    createdAt: row.createdAt,
    enrolledAt: dateOf(enrolledAt),
    disabledAt: dateOf(disabledAt),
    signsInWith: enrolledAt === null || disabledAt !== null ? null : firstFactorOf(account),
    isForged: accountOf(vault, row) === null,
  };
}

function firstFactorOf({ password }: Account): FirstFactor {
  return password === null ? 'oidc' : 'password';
}

function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(Number(time) / 1000);
}
