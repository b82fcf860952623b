/**
 * The accounts of operators as other operators see and change them (docs/operators.md). Reads and writes `operators`,
 * ends `operator_sessions`, and calls `leave_desk`.
 */
import type { Authority, Role } from '../../../domain/operator/authority.ts';
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

/** An account as other operators see it. */
export interface Operator {
  readonly id: number;
  readonly login: string;
  readonly role: Role;
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

/** What an operator signs in with: a password of this service, or an identity at the identity provider. */
export type FirstFactor = 'password' | 'oidc';

/** What the page has to know about the operator who is signed in. */
export interface Profile {
  readonly authority: Authority;
  readonly signsInWith: FirstFactor;
  /** Whether the account has an authenticator app. */
  readonly hasApp: boolean;
}

type Row = AccountRow & { readonly createdAt: Date };

const COLUMNS = `${accountColumns('o')}, o.created_at AS "createdAt"`;
const LIST = `SELECT ${COLUMNS} FROM operators o ORDER BY o.id`;
const FIND = `SELECT ${COLUMNS} FROM operators o WHERE o.login = $1 FOR NO KEY UPDATE`;
const BY_ID = `SELECT ${COLUMNS} FROM operators o WHERE o.id = $1`;
const NOW = `SELECT ${micros('now()')} AS now`;
const LOCK_ALL = 'SELECT id FROM operators ORDER BY id FOR NO KEY UPDATE';

const LEAVE_DESK = 'SELECT leave_desk($1)';

/** All operators, the oldest first. */
export async function readOperators(session: Session, vault: Vault): Promise<Operator[]> {
  return (await session.query<Row>(LIST)).rows.map((row) => operatorOf(vault, row));
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
  const [row] = (await session.query<Row>(FIND, [login])).rows;
  if (row === undefined) return null;
  return { operator: operatorOf(vault, row), stored: toAccount(row), account: accountOf(vault, row) };
}

/** Whether there is an operator with factors whose account is not disabled. */
export async function canSomebodySignIn(session: Session, vault: Vault): Promise<boolean> {
  const operators = await readOperators(session, vault);
  return operators.some((one) => !one.isForged && one.enrolledAt !== null && one.disabledAt === null);
}

/** Adds an operator whose link has the token with this digest. Returns the id; null if the login is taken. */
export async function insertOperator(
  session: Session,
  vault: Vault,
  {
    login,
    role,
    authority = new Map(),
    linkDigest,
  }: { login: string; role: Role; authority?: Authority; linkDigest: Buffer },
): Promise<number | null> {
  const { now } = onlyRow((await session.query<{ now: string }>(NOW)).rows);
  const account: Account = {
    id: await takeId(session, 'operators'),
    login,
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
  return accountOf(vault, (await session.query<Row>(BY_ID, [id])).rows[0]);
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

function operatorOf(vault: Vault, row: Row): Operator {
  const account = toAccount(row);
  const { id, login, role, authority, enrolledAt, disabledAt } = account;
  return {
    id,
    login,
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
