/**
 * Deletes what delivery has about a person (docs/subject.md, "Erase"; `sql/functions/messages/erase.sql`). Calls
 * `erase_replies` and `erase_messages`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

const ERASE_REPLIES = 'SELECT erase_replies($1, $2, $3)';
const ERASE = 'SELECT erase_messages($1, $2, $3, $4)';

/**
 * Deletes the messages and replies of these applications, and what delivery has under these phones (blind indexes, each
 * as the decimal text of a bigint), and suppresses the phones. The transaction has locked the applications, and stored
 * the erasure. `nobodySends`: no worker runs on the database. Throws an error of `isBeingSent` if a message is being
 * sent.
 */
export async function eraseMessages(
  session: Transaction,
  ids: readonly ApplicationId[],
  phones: readonly string[],
  { nobodySends, erasureId }: { readonly nobodySends: boolean; readonly erasureId: string },
): Promise<void> {
  await session.query(ERASE_REPLIES, [ids, phones, nobodySends]);
  await session.query(ERASE, [ids, phones, nobodySends, erasureId]);
}

/** Whether an erasure failed because a message is being sent. */
export function isBeingSent(error: unknown): boolean {
  return errorCode(error) === '55006';
}

/** Suppressions stay, so they are not counted. */
const HAS = `
  SELECT EXISTS (SELECT FROM recipients WHERE phone_index = ANY ($1::bigint[]))
    OR EXISTS (SELECT FROM replies WHERE phone_index = ANY ($1::bigint[]))
    OR EXISTS (SELECT FROM channel_users WHERE phone_index = ANY ($1::bigint[]))
    OR EXISTS (SELECT FROM waiting_rejections WHERE phone_index = ANY ($1::bigint[])) AS has`;

/** Whether delivery has something under these phones that an erasure deletes. */
export async function hasPhones(session: Session, phones: readonly string[]): Promise<boolean> {
  return (await session.query<{ has: boolean }>(HAS, [phones])).rows[0]?.has === true;
}
