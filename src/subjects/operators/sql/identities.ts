/**
 * Which operator an identity at the identity provider belongs to (docs/operators.md, "Sign-in by OpenID Connect").
 * Reads and writes `operators`.
 */
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import {
  type Account,
  type AccountRow,
  accountColumns,
  accountOf,
  changeAccount,
  type Identity,
} from './account.ts';

export type { Identity };

const BY_IDENTITY = `
  SELECT ${accountColumns('o')} FROM operators o
  WHERE o.issuer = $1 AND o.subject = $2 AND o.disabled_at IS NULL AND o.enrolled_at IS NOT NULL
  FOR NO KEY UPDATE`;
const IS_TAKEN = 'SELECT FROM operators WHERE issuer = $2 AND subject = $3 AND id <> $1';

/** The live account that is bound to the identity and can sign in, locked until the transaction ends. */
export async function lockAccountByIdentity(
  session: Session,
  vault: Vault,
  { issuer, subject }: Identity,
): Promise<Account | null> {
  return accountOf(vault, (await session.query<AccountRow>(BY_IDENTITY, [issuer, subject])).rows[0]);
}

/**
 * Binds a locked account to the identity, which replaces all its factors, and gives its link another token. Null if the
 * identity has another account: then this account and its link stay as they are. Throws if another transaction binds
 * the identity at the same moment.
 */
export async function bindIdentity(
  session: Session,
  vault: Vault,
  account: Account,
  identity: Identity,
  linkDigest: Buffer,
): Promise<Account | null> {
  const { issuer, subject } = identity;
  if ((await session.query(IS_TAKEN, [account.id, issuer, subject])).rowCount !== 0) return null;
  return changeAccount(session, vault, account, {
    identity,
    password: null,
    totp: null,
    totpStep: 0,
    enrolledAt: null,
    link: account.link && { ...account.link, digest: linkDigest },
  });
}
