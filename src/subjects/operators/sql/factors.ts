/**
 * What an operator proves a sign-in with: the link, the password, the one-time codes and the recovery codes. Reads and
 * writes `operators`; new factors end rows of `operator_sessions`. `sql/account.ts` has the row and its MAC.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Whose } from '../../../domain/operator/session.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { later } from '../../../ground/postgres/database-time.ts';
import { requireLiveKey } from '../../../seal/data-keys.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Account, type AccountRow, accountColumns, accountOf, changeAccount } from './account.ts';
import { endSessions } from './sessions.ts';

export type { Account };

const COLUMNS = accountColumns('o');
const BY_LOGIN = `SELECT ${COLUMNS} FROM operators o WHERE o.login = $1 AND o.disabled_at IS NULL`;
const BY_ID = `SELECT ${COLUMNS} FROM operators o WHERE o.id = $1 AND o.disabled_at IS NULL FOR NO KEY UPDATE`;
const BY_IDS = `SELECT ${COLUMNS} FROM operators o WHERE o.id = ANY ($1::integer[]) AND o.disabled_at IS NULL`;
const BY_LINK = `SELECT ${COLUMNS} FROM operators o
  WHERE o.enrolment = $1 AND (o.partner_id IS NULL) = $2 AND o.enrolment_ends > now() AND o.enrolment_ends <= now() + interval '25 hours'
    AND o.disabled_at IS NULL`;

/** The live account with this login as it is stored (`storedLogin`); null if there is none. */
export async function accountByLogin(session: Session, vault: Vault, login: string): Promise<Account | null> {
  return accountOf(vault, (await session.query<AccountRow>(BY_LOGIN, [login])).rows[0]);
}

/** The live accounts with these ids. */
export async function accountsByIds(
  session: Session,
  vault: Vault,
  ids: readonly number[],
): Promise<Account[]> {
  const { rows } = await session.query<AccountRow>(BY_IDS, [ids]);
  return rows.map((row) => accountOf(vault, row)).filter((account) => account !== null);
}

/** The live account with this id, locked until the transaction ends. */
export async function lockAccount(session: Session, vault: Vault, id: number): Promise<Account | null> {
  return accountOf(vault, (await session.query<AccountRow>(BY_ID, [id])).rows[0]);
}

/** The live account whose link has the token with this digest, locked until the transaction ends. */
export async function lockAccountByLink(
  session: Session,
  vault: Vault,
  linkDigest: Buffer,
  whose: Whose = 'operator',
): Promise<Account | null> {
  const { rows } = await session.query<AccountRow>(`${BY_LINK} FOR NO KEY UPDATE`, [
    linkDigest,
    whose === 'operator',
  ]);
  return accountOf(vault, rows[0]);
}

/**
 * Sets the password and the secret of the codes of a locked account. The account is enrolled only after a right code. A
 * password takes the place of an identity. Throws if the vault's sealing key is retired (`requireLiveKey`).
 */
export async function setFactors(
  session: Session,
  vault: Vault,
  account: Account,
  { password, totp }: { password: string; totp: Buffer },
): Promise<Account> {
  await requireLiveKey(session, vault);
  return changeAccount(session, vault, account, {
    password,
    identity: null,
    totpStep: 0,
    enrolledAt: null,
    totp: vault.seal(totp, totpIdentity(account.id)),
  });
}

/** Sets the secret of the codes of a locked account with an identity. Throws like `setFactors`. */
export async function setTotp(
  session: Session,
  vault: Vault,
  account: Account,
  totp: Buffer,
): Promise<Account> {
  await requireLiveKey(session, vault);
  const sealed = vault.seal(totp, totpIdentity(account.id));
  return changeAccount(session, vault, account, { totp: sealed, totpStep: 0, enrolledAt: null });
}

/**
 * From now on the locked account can sign in, and its link works no more. Without `recoveryCodes`, their digests, it
 * keeps the codes that it has. Sessions from before end, because they were made with other factors.
 */
export async function enrol(
  session: Session,
  vault: Vault,
  account: Account,
  {
    totpStep,
    recoveryCodes = account.recoveryCodes,
  }: {
    readonly totpStep: number;
    readonly recoveryCodes?: readonly Buffer[];
  },
): Promise<Account> {
  await endSessions(session, account.id);
  return changeAccount(session, vault, account, {
    totpStep,
    recoveryCodes,
    link: null,
    enrolledAt: account.now,
  });
}

/** Marks a code of a locked account, and all earlier codes, as taken. */
export async function takeStep(
  session: Session,
  vault: Vault,
  account: Account,
  totpStep: number,
): Promise<void> {
  await changeAccount(session, vault, account, { totpStep });
}

/** Takes all factors of a locked account away, ends its sessions, and gives a new link. */
export async function resetFactors(
  session: Session,
  vault: Vault,
  account: Account,
  linkDigest: Buffer,
): Promise<Account> {
  await endSessions(session, account.id);
  return changeAccount(session, vault, account, {
    password: null,
    totp: null,
    totpStep: 0,
    enrolledAt: null,
    identity: null,
    recoveryCodes: [],
    link: { digest: linkDigest, ends: later(account.now, DAY_MS) },
  });
}

/** Uses up a recovery code of a locked account. False if the operator has no such code. */
export async function takeRecoveryCode(
  session: Session,
  vault: Vault,
  account: Account,
  digest: Buffer,
): Promise<boolean> {
  const left = account.recoveryCodes.filter((code) => !timingSafeEqual(code, digest));
  if (left.length === account.recoveryCodes.length) return false;
  await changeAccount(session, vault, account, { recoveryCodes: left });
  return true;
}

/** The secret of an account's codes. Throws like `Vault.open`. */
export function openTotp(vault: Vault, id: number, sealed: Buffer): Buffer {
  return vault.open(sealed, totpIdentity(id));
}

/** The identity that the secret of an operator's codes is sealed under. */
export function totpIdentity(id: number | string): string {
  return `operator totp ${id}`;
}
