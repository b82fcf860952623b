/**
 * The row of an account in `operators`, an operator's or a partner's (D54): what it may do, the factors, the link and
 * the recovery codes. One MAC covers the whole row, so each change reads the row, checks it, and writes it with a new
 * MAC (docs/operators.md, "The operator API").
 */

import type { Authority, PartnerRole, Role } from '../../../domain/operator/authority.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { micros, timeOf } from '../../../ground/postgres/database-time.ts';
import { isRowMac, type MacedRows, rowMac } from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';
import { PARTNER_LOGIN, storedLogin } from '../rules/login.ts';

/** The identity of an operator at the identity provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** An account. Times are microseconds since 1970, as texts. */
export interface Account {
  readonly id: number;
  readonly login: string;
  /** null: the account is an operator's. */
  readonly partnerId: PartnerId | null;
  readonly role: Role | PartnerRole;
  readonly authority: Authority;
  /** argon2id; null: not set. */
  readonly password: string | null;
  /** Sealed (`openTotp`). */
  readonly totp: Buffer | null;
  /** The time step of the last code that was taken. */
  readonly totpStep: number;
  /** null: there is no link by which the operator may set the factors. */
  readonly link: { readonly digest: Buffer; readonly ends: string } | null;
  /** null: the account is not bound to an identity. It has a password or an identity, never both. */
  readonly identity: Identity | null;
  /** The digests of the recovery codes that are left. */
  readonly recoveryCodes: readonly Buffer[];
  /** When both factors were set; null: the account cannot sign in. */
  readonly enrolledAt: string | null;
  readonly disabledAt: string | null;
  /** The database's time when the row was read, and the same in milliseconds. */
  readonly now: string;
  readonly nowMs: number;
}

/** The values that a change may set. */
export type AccountChange = Partial<Omit<Account, 'id' | 'login' | 'partnerId' | 'now' | 'nowMs'>>;

/** A row of `accountColumns`. */
export interface AccountRow
  extends Omit<Account, 'authority' | 'link' | 'identity' | 'recoveryCodes' | 'nowMs'> {
  readonly authority: unknown;
  readonly linkDigest: Buffer | null;
  readonly linkEnds: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly codes: Buffer;
  readonly mac: Buffer;
}

const DIGEST_BYTES = 32;

/** The columns of an account; `o` is the name of the table in the statement. */
export function accountColumns(o: string): string {
  return `${o}.id, ${shownLogin(o)} AS login, ${o}.partner_id AS "partnerId", ${o}.role, ${o}.authority, ${o}.password, ${o}.totp, ${o}.totp_step::float8 AS "totpStep",
    ${o}.enrolment AS "linkDigest", ${micros(`${o}.enrolment_ends`)} AS "linkEnds", ${o}.issuer, ${o}.subject,
    ${o}.recovery_codes AS codes, ${micros(`${o}.enrolled_at`)} AS "enrolledAt",
    ${micros(`${o}.disabled_at`)} AS "disabledAt", ${o}.mac, ${micros('clock_timestamp()')} AS now`;
}

/** The login without what stands before that of a partner's account. */
function shownLogin(o: string): string {
  return `CASE WHEN ${o}.partner_id IS NULL THEN ${o}.login ELSE substr(${o}.login, ${PARTNER_LOGIN.length + 1}) END`;
}

/** The account of a row; null if the row is forged. */
export function accountOf(vault: Vault, row: AccountRow | undefined): Account | null {
  if (row === undefined) return null;
  const account = toAccount(row);
  return isRowMac(vault, KIND, factsOf(account), row.mac) ? account : null;
}

/** The same of an operator: null also if the account is a partner's. */
export function operatorOf(
  vault: Vault,
  row: AccountRow | undefined,
): (Account & { readonly role: Role }) | null {
  const account = accountOf(vault, row);
  return account?.partnerId === null ? (account as Account & { readonly role: Role }) : null;
}

/** The row's account without a check of the MAC: to show an account, or to end it. */
export function toAccount(row: AccountRow): Account {
  const { authority, linkDigest: digest, linkEnds: ends, issuer, subject, codes, ...account } = row;
  return {
    ...account,
    authority: authorityOf(authority),
    link: digest === null || ends === null ? null : { digest, ends },
    identity: issuer === null || subject === null ? null : { issuer, subject },
    recoveryCodes: digestsOf(codes),
    nowMs: Number(BigInt(account.now) / 1000n),
  };
}

/** A value that is no amount counts as none: one wrong row must not stop whoever reads all rows. */
function authorityOf(stored: unknown): Authority {
  const entries = Object.entries(stored ?? {}).filter(([, text]) => /^\d{1,20}$/.test(text));
  return new Map(entries.map(([currency, text]) => [currency, BigInt(text)]));
}

function digestsOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(bytes.length / DIGEST_BYTES) }, (_, n) =>
    bytes.subarray(n * DIGEST_BYTES, (n + 1) * DIGEST_BYTES),
  );
}

const KIND = 'operator account';

/**
 * What the MAC covers. The secret of the codes is sealed under the account's id, so the MAC covers only whether there
 * is one.
 */
function factsOf(account: Account) {
  const { id, login, role, authority, password, totp, totpStep, link, identity, recoveryCodes } = account;
  return [
    ...[id, login, role, authorityText(authority), password, totp !== null, totpStep],
    ...[link?.digest.toString('hex') ?? null, link?.ends ?? null],
    ...[identity?.issuer ?? null, identity?.subject ?? null],
    ...[Buffer.concat(recoveryCodes).toString('hex'), account.enrolledAt, account.disabledAt],
    // Of operators it is left out, so that their MACs are those of a program that knows no other accounts.
    ...(account.partnerId === null ? [] : [account.partnerId]),
  ];
}

function authorityText(authority: Authority): string {
  return [...authority]
    .map(([currency, hundredths]) => `${currency}=${hundredths}`)
    .sort()
    .join(' ');
}

/** All accounts, for the check of their MACs and their replacement. */
export const ACCOUNTS: MacedRows<AccountRow> = {
  kind: KIND,
  read: `SELECT o.id::text AS name, ${accountColumns('o')} FROM operators o`,
  write: `
    UPDATE operators o SET mac = u.mac FROM unnest($1::integer[], $2::bytea[]) AS u(id, mac) WHERE o.id = u.id`,
  factsOf: (row) => factsOf(toAccount(row)),
};

const INSERT = `
  INSERT INTO operators (id, login, partner_id, role, authority, enrolment, enrolment_ends, mac)
  VALUES ($1, $2, $3, $4, $5, $6, ${timeOf('$7')}, $8)
  ON CONFLICT (login) DO NOTHING`;

/** Adds the row of a new account. False if the login is taken. */
export async function insertAccount(session: Session, vault: Vault, account: Account): Promise<boolean> {
  const { id, login, partnerId, role, authority, link } = account;
  const stored = storedLogin(partnerId === null ? 'operator' : 'partner', login);
  const { rowCount } = await session.query(INSERT, [
    ...[id, stored, partnerId, role, authorityJson(authority), link?.digest, link?.ends],
    rowMac(vault, KIND, factsOf(account)),
  ]);
  return rowCount === 1;
}

const CHANGE = `
  UPDATE operators SET role = $2, authority = $3, password = $4, totp = $5, totp_step = $6, enrolment = $7,
    enrolment_ends = ${timeOf('$8')}, issuer = $9, subject = $10, recovery_codes = $11,
    enrolled_at = ${timeOf('$12')}, disabled_at = ${timeOf('$13')}, mac = $14
  WHERE id = $1`;

/** Changes an account that the transaction has locked. Returns the account as it is afterwards. */
export async function changeAccount(
  session: Session,
  vault: Vault,
  before: Account,
  change: AccountChange,
): Promise<Account> {
  const account = { ...before, ...change };
  const { id, role, authority, password, totp, totpStep, link, identity, recoveryCodes } = account;
  await session.query(CHANGE, [
    ...[id, role, authorityJson(authority), password, totp, totpStep],
    ...[link?.digest ?? null, link?.ends ?? null, identity?.issuer ?? null, identity?.subject ?? null],
    ...[Buffer.concat(recoveryCodes), account.enrolledAt, account.disabledAt],
    rowMac(vault, KIND, factsOf(account)),
  ]);
  return account;
}

function authorityJson(authority: Authority): string {
  return JSON.stringify(Object.fromEntries([...authority].map(([currency, h]) => [currency, String(h)])));
}
