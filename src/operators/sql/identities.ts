/** The identities of operators at the identity provider. An account has a password or an identity, never both. */
import type { Session } from '../../postgres/database.ts';
import { type Account, type AccountRow, accountColumns, accountOf } from './factors.ts';

/** Who somebody is at the identity provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

const BY_IDENTITY = `
  SELECT ${accountColumns('o')} FROM operators o JOIN operator_identities i ON i.operator_id = o.id
  WHERE i.issuer = $1 AND i.subject = $2 AND o.disabled_at IS NULL AND o.enrolled_at IS NOT NULL
  FOR NO KEY UPDATE OF o`;
const IS_BOUND = 'SELECT FROM operator_identities WHERE operator_id = $1';
const IS_TAKEN = `
  SELECT FROM operator_identities WHERE issuer = $2 AND subject = $3 AND operator_id <> $1`;
const UNBIND = 'DELETE FROM operator_identities WHERE operator_id = $1';
const BIND = `
  INSERT INTO operator_identities (operator_id, issuer, subject) VALUES ($1, $2, $3)
  ON CONFLICT (issuer, subject) DO NOTHING`;
const TAKE_FACTORS = `
  UPDATE operators SET password = NULL, totp = NULL, totp_step = 0, enrolled_at = NULL, enrolment = $2 WHERE id = $1`;

/** The live account that is bound to the identity and can sign in, locked until the transaction ends. */
export async function lockAccountByIdentity(
  session: Session,
  { issuer, subject }: Identity,
): Promise<Account | null> {
  return accountOf(await session.query<AccountRow>(BY_IDENTITY, [issuer, subject]));
}

/** Whether an account is bound to an identity. */
export async function isBound(session: Session, id: number): Promise<boolean> {
  return (await session.query(IS_BOUND, [id])).rowCount === 1;
}

/**
 * Binds a locked account to the identity, in the place of all its factors, and gives its link another token. Returns
 * false where another account is bound to the identity: then this one and its link stay.
 */
export async function bindIdentity(
  session: Session,
  id: number,
  { issuer, subject }: Identity,
  linkDigest: Buffer,
): Promise<boolean> {
  if ((await session.query(IS_TAKEN, [id, issuer, subject])).rowCount !== 0) return false;
  await session.query(UNBIND, [id]);
  if ((await session.query(BIND, [id, issuer, subject])).rowCount !== 1)
    throw new Error('another account was bound to the identity at the same moment');
  await session.query(TAKE_FACTORS, [id, linkDigest]);
  return true;
}
