/** Reads what the replies of an application say. Reads `replies`, and opens the sealed contents. */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { ReplyContent } from '../../../../domain/message/reply.ts';
import type { Session } from '../../../../ground/postgres/database.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { replyIdentity } from '../replies.ts';

/** A reply with its content: what the person read, or was meant to read. */
export interface ReadableReply {
  readonly turn: number;
  /** null: the content does not open. */
  readonly content: ReplyContent | null;
}

const CONTENTS = 'SELECT turn, content FROM replies WHERE application_id = $1 ORDER BY turn';

/** The replies of an application with their contents, in the order of their turns. */
export async function readReplyContents(
  session: Session,
  vault: Vault,
  applicationId: ApplicationId,
): Promise<ReadableReply[]> {
  const { rows } = await session.query<{ turn: number; content: Buffer }>(CONTENTS, [applicationId]);
  return rows.map(({ turn, content }) => ({
    turn,
    content: openReply(vault, content, replyIdentity(applicationId, turn)),
  }));
}

function openReply(vault: Vault, sealed: Buffer, identity: string): ReplyContent | null {
  try {
    return JSON.parse(vault.open(sealed, identity).toString('utf8'));
  } catch {
    return null;
  }
}
