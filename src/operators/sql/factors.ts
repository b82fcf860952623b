/** What operators prove themselves with: the link, the password, the one-time codes and the recovery codes. */
import { DAY_MS } from '../../base/time.ts';
import type { Session } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Role } from '../rules/role.ts';

/** The account that a link or a login names, with what the check of its factors needs. */
export interface Account {
  readonly id: number;
  readonly login: string;
  readonly role: Role;
  /** argon2id; null: not set. */
  readonly password: string | null;
  readonly totp: Buffer | null;
  /** The time step of the last code that was taken. */
  readonly totpStep: number;
  /** When both factors were set, in microseconds since 1970; null: the account cannot sign in. */
  readonly enrolledAt: string | null;
  /** The database's time, in milliseconds. */
  readonly nowMs: number;
}

/** A row of `accountColumns`. */
export interface AccountRow {
  id: number;
  login: string;
  role: Role;
  password: string | null;
  totp: Buffer | null;
  totp_step: string;
  enrolled_at: string | null;
  now_ms: number;
}

const COLUMNS = accountColumns('o');
const BY_LOGIN = `SELECT ${COLUMNS} FROM operators o WHERE o.login = $1 AND o.disabled_at IS NULL`;
const BY_ID = `SELECT ${COLUMNS} FROM operators o WHERE o.id = $1 AND o.disabled_at IS NULL FOR NO KEY UPDATE`;
const BY_IDS = `SELECT ${COLUMNS} FROM operators o WHERE o.id = ANY ($1::integer[]) AND o.disabled_at IS NULL`;
const OF_LINK = `FROM operators o
  WHERE o.enrolment = $1 AND o.enrolment_ends > now() AND o.enrolment_ends <= now() + interval '25 hours'
    AND o.disabled_at IS NULL`;
const BY_LINK = `SELECT ${COLUMNS} ${OF_LINK} FOR NO KEY UPDATE`;
/** Of an account that had an identity at the identity provider: a password takes its place. */
const UNBIND = 'unbound AS (DELETE FROM operator_identities WHERE operator_id = $1)';
const SET_PASSWORD = `
  WITH ${UNBIND}
  UPDATE operators SET password = $2, totp = $3, totp_step = 0, enrolled_at = NULL WHERE id = $1`;
const SET_TOTP = 'UPDATE operators SET totp = $2, totp_step = 0, enrolled_at = NULL WHERE id = $1';
/** A session from before the enrolment was made with other factors. */
const ENROL = `
  WITH ended AS (DELETE FROM operator_sessions WHERE operator_id = $1)
  UPDATE operators SET enrolled_at = now(), totp_step = $2, enrolment = NULL, enrolment_ends = NULL WHERE id = $1`;
const TAKE_STEP = 'UPDATE operators SET totp_step = $2 WHERE id = $1 AND totp_step < $2';
const RESET = `
  WITH ended AS (
    DELETE FROM operator_sessions WHERE operator_id = $1
  ), codes AS (
    DELETE FROM operator_recovery_codes WHERE operator_id = $1
  ), ${UNBIND}
  UPDATE operators SET password = NULL, totp = NULL, totp_step = 0, enrolled_at = NULL,
    enrolment = $2, enrolment_ends = now() + $3 * interval '1 millisecond'
  WHERE id = $1 AND disabled_at IS NULL`;
const SET_RECOVERY = `
  WITH gone AS (DELETE FROM operator_recovery_codes WHERE operator_id = $1 AND code <> ALL ($2::bytea[]))
  INSERT INTO operator_recovery_codes (operator_id, code) SELECT $1, u.code FROM unnest($2::bytea[]) AS u(code)`;
const TAKE_RECOVERY = 'DELETE FROM operator_recovery_codes WHERE operator_id = $1 AND code = $2';

/** The live account with this login; null if there is none. */
export async function accountByLogin(session: Session, login: string): Promise<Account | null> {
  return accountOf(await session.query<AccountRow>(BY_LOGIN, [login]));
}

/** The live accounts with these ids. */
export async function accountsByIds(session: Session, ids: readonly number[]): Promise<Account[]> {
  const { rows } = await session.query<AccountRow>(BY_IDS, [ids]);
  return rows.map(toAccount);
}

/** The live account with this id, locked until the transaction ends. */
export async function lockAccount(session: Session, id: number): Promise<Account | null> {
  return accountOf(await session.query<AccountRow>(BY_ID, [id]));
}

/** The live account whose link has the token with this digest, locked until the transaction ends. */
export async function lockAccountByLink(session: Session, linkDigest: Buffer): Promise<Account | null> {
  return accountOf(await session.query<AccountRow>(BY_LINK, [linkDigest]));
}

/** Sets the password and the secret of the codes; the account is enrolled once a code was right. */
export async function setFactors(
  session: Session,
  vault: Vault,
  { id, password, totp }: { id: number; password: string; totp: Buffer },
): Promise<void> {
  await session.query(SET_PASSWORD, [id, password, vault.seal(totp, totpIdentity(id))]);
}

/** Sets the secret of the codes of an account with an identity. */
export async function setTotp(session: Session, vault: Vault, id: number, totp: Buffer): Promise<void> {
  await session.query(SET_TOTP, [id, vault.seal(totp, totpIdentity(id))]);
}

/** The account can sign in from now on, and its link works no more. */
export async function enrol(session: Session, id: number, totpStep: number): Promise<void> {
  await session.query(ENROL, [id, totpStep]);
}

/** Marks a code as taken. Returns false where it, or a later one, was taken before. */
export async function takeStep(session: Session, id: number, totpStep: number): Promise<boolean> {
  return (await session.query(TAKE_STEP, [id, totpStep])).rowCount === 1;
}

/** Takes all factors away and gives a new link. Returns false where the account is disabled. */
export async function resetFactors(session: Session, id: number, linkDigest: Buffer): Promise<boolean> {
  return (await session.query(RESET, [id, linkDigest, DAY_MS])).rowCount === 1;
}

/** Replaces all recovery codes of an operator by those with these digests. */
export async function setRecoveryCodes(
  session: Session,
  id: number,
  digests: readonly Buffer[],
): Promise<void> {
  await session.query(SET_RECOVERY, [id, digests]);
}

/** Takes a recovery code, which counts once. Returns false where the operator has no such code. */
export async function takeRecoveryCode(session: Session, id: number, digest: Buffer): Promise<boolean> {
  return (await session.query(TAKE_RECOVERY, [id, digest])).rowCount === 1;
}

/** The secret of an account's codes. Throws like `Vault.open`. */
export function openTotp(vault: Vault, id: number, sealed: Buffer): Buffer {
  return vault.open(sealed, totpIdentity(id));
}

/** What the secret of an operator's codes is sealed under. */
export function totpIdentity(id: number | string): string {
  return `operator totp ${id}`;
}

/** The columns of an account; `operators` is the name of the table in the statement. */
export function accountColumns(operators: string): string {
  const columns = ['id', 'login', 'role', 'password', 'totp', 'totp_step'].map(
    (name) => `${operators}.${name}`,
  );
  return `${columns.join(', ')}, (extract(epoch FROM ${operators}.enrolled_at) * 1000000)::bigint::text AS enrolled_at,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms`;
}

/** The account of the one row; null where there is none. */
export function accountOf({ rows: [row] }: { rows: AccountRow[] }): Account | null {
  return row === undefined ? null : toAccount(row);
}

function toAccount({ totp_step, enrolled_at, now_ms, ...row }: AccountRow): Account {
  return { ...row, totpStep: Number(totp_step), enrolledAt: enrolled_at, nowMs: now_ms };
}
