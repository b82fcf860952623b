/**
 * The work beside the conversations, as rows of `conversation_work`: queued by turns, claimed with a lease by
 * `claim_work`, and ended by an input (docs/conversation.md, "Inputs, turns and replies").
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Work } from '../../../domain/conversation/effect.ts';
import type { Purpose } from '../../../domain/conversation/state.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { Bell } from '../../../ground/base/bell.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import type { ConversationId } from './conversations.ts';

/** Rings after a transaction with work has committed, so that this process goes on at once. */
export const WORK_BELL = new Bell();

/** Work to queue. `inputId`: the input that the work is about, if there is one. */
export interface NewWork {
  readonly conversationId: ConversationId;
  readonly applicationId: ApplicationId;
  readonly work: Work;
  readonly purpose: Purpose | null;
  readonly inputId: string | null;
}

/** Files are apart from the rest: each takes up to a minute, and must not delay offers, contracts and codes. */
export type WorkKind = 'files' | 'others';

/** Work that this process has claimed. */
export interface ClaimedWork extends NewWork {
  readonly id: string;
  readonly partnerId: PartnerId;
  /** The number of tries, with this one. */
  readonly tries: number;
  /** Why it was put off the last time; null: it never was, or its process died each time. */
  readonly reason: string | null;
}

const CLAIM = `
  SELECT id, conversation_id AS "conversationId", application_id::float8 AS "applicationId", partner_id AS "partnerId",
    work, purpose, input_id AS "inputId", tries, reason
  FROM claim_work($1, $2, $3 * interval '1 millisecond', $4, $5)`;

/** How much work of a kind a process takes. */
export interface Share {
  /** How much more it can take now. */
  readonly room: number;
  /** The most of one partner at once: files take turns (`next_files`). */
  readonly ofPartner: number;
  /** The partners of the work under way, each as often as it has one. */
  readonly held: readonly PartnerId[];
}

/** Claims due work, of files or of everything else, with a lease. Other processes leave it alone meanwhile. */
export async function claimWork(
  session: Session,
  kind: WorkKind,
  { room, ofPartner, held }: Share,
  leaseMs: number,
): Promise<ClaimedWork[]> {
  return (await session.query<ClaimedWork>(CLAIM, [kind === 'files', room, leaseMs, held, ofPartner])).rows;
}

const RENEW = `
  UPDATE conversation_work SET leased_until = now() + $3 * interval '1 millisecond',
    due_at = now() + $3 * interval '1 millisecond'
  WHERE id = $1 AND tries = $2`;

/** Extends the lease of work that this process still does, unless another process has claimed it meanwhile. */
export async function renewWork(
  session: Session,
  { id, tries }: Pick<ClaimedWork, 'id' | 'tries'>,
  leaseMs: number,
): Promise<void> {
  await session.query(RENEW, [id, tries, leaseMs]);
}

const RETRY = `
  UPDATE conversation_work SET due_at = now() + $3 * interval '1 millisecond', leased_until = NULL,
    reason = $4
  WHERE id = $1 AND tries = $2`;

/** Puts work off for another try, unless another process has claimed it meanwhile. */
export async function retryWork(
  database: Database,
  { id, tries }: ClaimedWork,
  afterMs: number,
  reason: string,
): Promise<void> {
  await database.query(RETRY, [id, tries, afterMs, reason]);
}

const END = 'DELETE FROM conversation_work WHERE id = $1';

/** Ends work, in the transaction that stores its result as an input. False: another process has ended it. */
export async function endWork(session: Session, id: string): Promise<boolean> {
  return (await session.query(END, [id])).rowCount === 1;
}
