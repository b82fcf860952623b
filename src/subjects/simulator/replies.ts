/**
 * Reads the replies that reached their phone, for the simulator's page. Reads `replies` and opens them; writes nothing.
 */
import type { ApplicationId, BlindIndex } from '../../domain/application/ids.ts';
import type { ReplyContent, ReplyId } from '../../domain/message/reply.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../seal/blind-indexes.ts';
import type { Vault } from '../../seal/vault.ts';
import { replyIdentity } from '../messages/sql/replies.ts';

/** A reply on a phone. */
export interface ChatReply {
  readonly replyId: ReplyId;
  readonly applicationId: ApplicationId;
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly status: 'accepted' | 'sent' | 'delivered' | 'read';
  /** The number of sends so far. The last one is on the phone. */
  readonly attempts: number;
  /** When the channel took it, or else when it was made. */
  readonly at: Date;
  readonly content: ReplyContent;
}

type Row = Omit<ChatReply, 'content'> & { readonly turn: number; readonly sealed: Buffer };

const ON_PHONE = `
  SELECT r.id AS "replyId", r.application_id::float8 AS "applicationId", r.turn,
    ${readIndex('r.phone_index')} AS "phoneIndex", r.status, r.attempts, r.content AS sealed,
    coalesce(r.sent_at, r.created_at) AS at
  FROM replies r
  WHERE r.status IN ('accepted', 'sent', 'delivered', 'read') AND r.channel_message_id IS NOT NULL`;
const NEWEST = `${ON_PHONE} ORDER BY r.id DESC LIMIT $1`;
const OF_PHONES = `${ON_PHONE} AND r.phone_index = ANY ($2::bigint[]) ORDER BY r.id DESC LIMIT $1`;
const OF_ID = `${ON_PHONE} AND r.id = $1`;

/** The newest `limit` replies on phones, newest first. Leaves out those whose content does not open. */
export function readNewestReplies(database: Database, vault: Vault, limit: number): Promise<ChatReply[]> {
  return read(database, vault, NEWEST, [limit]);
}

/** The newest `limit` replies on these phones, as `readNewestReplies`. */
export function readRepliesTo(
  database: Database,
  vault: Vault,
  phones: readonly BlindIndex<'phone'>[],
  limit: number,
): Promise<ChatReply[]> {
  return read(database, vault, OF_PHONES, [limit, phones.map(toBigint)]);
}

/** One reply; null: it reached no phone. */
export async function readReply(database: Database, vault: Vault, id: ReplyId): Promise<ChatReply | null> {
  return (await read(database, vault, OF_ID, [id]))[0] ?? null;
}

async function read(database: Database, vault: Vault, text: string, values: unknown[]): Promise<ChatReply[]> {
  const { rows } = await database.query<Row>(text, values);
  return rows.flatMap(({ turn, sealed, ...reply }) => {
    const content = open(vault, replyIdentity(reply.applicationId, turn), sealed);
    return content === null ? [] : [{ ...reply, content }];
  });
}

function open(vault: Vault, identity: string, sealed: Buffer): ReplyContent | null {
  try {
    return JSON.parse(vault.open(sealed, identity).toString('utf8'));
  } catch {
    return null;
  }
}
