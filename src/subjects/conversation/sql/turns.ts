/**
 * Claims conversations for turns, and writes what the turns came to, in one statement each
 * (`sql/functions/conversation/turns.sql`; D43). Calls `claim_turns` and the functions that write rows, inputs, work
 * and replies.
 */
import type { Timer } from '../../../domain/conversation/input.ts';
import { isEnd } from '../../../domain/conversation/places.ts';
import type { State } from '../../../domain/conversation/state.ts';
import type { ToldReply } from '../../../domain/message/reply.ts';
import { columnsOf } from '../../../ground/postgres/columns.ts';
import { onlyRow, type Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type QueuedReply, replyValues, retiredReplyKey } from '../../messages/sql/replies.ts';
import { type ConversationId, type ConversationRow, conversationColumns } from './conversations.ts';
import type { InputRow } from './inputs.ts';
import type { NewWork } from './work.ts';

const CLAIM = `
  SELECT ${conversationColumns('(t.conversation)')}, t.now, t.waited_ms::float8 AS "waitedMs", t.inputs, t.told,
    t.untold
  FROM claim_turns($1, $2, $3) AS t`;

/** A conversation that a turn has locked, with what the turn reads. */
export interface ClaimedConversation extends ConversationRow {
  /** The database's clock. */
  readonly now: Date;
  /** The elapsed time since its last turn (D39); null: it is not known. */
  readonly waitedMs: number | null;
  /** The waiting inputs, by the channel's time, then by arrival. */
  readonly inputs: readonly InputRow[];
  /** The replies that showed the open question, an approval, the signed contract or the contract, by turn. */
  readonly told: ReadonlyMap<number, ToldReply>;
  /**
   * The fate of the newest reply. `never`: it will not arrive. `maybe`: the channel did not say that it took the reply.
   * Null: neither.
   */
  readonly untold: 'never' | 'maybe' | null;
}

interface ClaimedRow extends Omit<ClaimedConversation, 'inputs' | 'told'> {
  readonly inputs: readonly (Omit<InputRow, 'at' | 'content'> & { at: string; content: string })[] | null;
  readonly told: readonly { turn: number; fate: ToldReply['fate']; arrivedAt: string | null }[] | null;
}

/**
 * Locks conversations that have something to do; `ids` narrows them. If the vault lacks the data key of an input, its
 * conversation is left to a process that has the key.
 */
export async function claimConversations(
  session: Transaction,
  vault: Vault,
  most: number,
  ids: readonly ConversationId[] | null,
): Promise<ClaimedConversation[]> {
  const { rows } = await session.query<ClaimedRow>({
    name: 'claim_turns',
    text: CLAIM,
    values: [most, ids, vault.dataKeyIds.map((id) => Buffer.of(id))],
  });
  return rows.map((row) => ({
    ...row,
    inputs: (row.inputs ?? []).map((input) => ({
      ...input,
      at: new Date(input.at),
      content: Buffer.from(input.content, 'base64'),
    })),
    told: new Map(
      row.told?.map(({ turn, fate, arrivedAt: at }) => [
        turn,
        { fate, arrivedAt: at === null ? null : new Date(at) },
      ]),
    ),
  }));
}

/** The result of a turn. */
export interface WrittenTurn {
  readonly id: ConversationId;
  readonly state: State;
  readonly turn: number;
  readonly heardAt: Date | null;
  /** The turn took a message from the person. */
  readonly hasHeard: boolean;
  readonly timer: { readonly timer: Timer; readonly at: Date } | null;
  /** The chat was deleted, so what the turn adds has to be deleted later. */
  readonly isTrimmed: boolean;
  readonly contractTurn: number | null;
  readonly acceptedInput: string | null;
}

/** From now on the upkeep counts the days of what is new. */
const GROWN = 'UPDATE conversations SET is_trimmed = false, ended_ms = NULL WHERE id = ANY ($1::bigint[])';
/** PostgreSQL calls the functions in this order. */
const WRITE = `
  SELECT write_turns($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13), take_inputs($14, $15, $16),
    queue_work($17, $18, $19, $20, $21), queue_replies($22, $23, $24, $25, $26, $27) AS "areQueued"`;

/** An input, and the turn that took it. */
export interface TakenInput {
  readonly id: string;
  readonly turn: number;
  /** Why it was set aside; null: it was not. */
  readonly fault: string | null;
}

/**
 * Writes the results of turns of conversations that the transaction has locked: their rows, the inputs that they took,
 * the work that they want and their replies, as `queueReplies` does.
 */
export async function writeTurns(
  session: Transaction,
  turns: readonly WrittenTurn[],
  inputs: readonly TakenInput[],
  work: readonly NewWork[],
  replies: readonly QueuedReply[],
): Promise<void> {
  if (turns.length === 0) return;
  const { rows } = await session.query<{ areQueued: boolean }>({
    name: 'write_turns',
    text: WRITE,
    values: [
      turns.map(({ id }) => id),
      turns.map(({ state }) => state.place),
      turns.map(({ state }) => state.heldBy),
      turns.map(({ state }) => state.status),
      turns.map(({ state }) => JSON.stringify(state)),
      turns.map(({ turn }) => turn),
      turns.map(({ heardAt }) => heardAt),
      turns.map(({ timer }) => timer?.timer ?? null),
      turns.map(({ timer }) => timer?.at ?? null),
      turns.map(({ state }) => isEnd(state.place)),
      turns.map(({ contractTurn }) => contractTurn),
      turns.map(({ acceptedInput }) => acceptedInput),
      turns.map(({ hasHeard }) => hasHeard),
      ...columnsOf(inputs, 'id', 'turn', 'fault'),
      ...columnsOf(work, 'conversationId', 'applicationId', 'work', 'purpose', 'inputId'),
      ...replyValues(replies),
    ],
  });
  if (!onlyRow(rows).areQueued) throw retiredReplyKey();
  const grown = turns.filter(({ isTrimmed }) => isTrimmed);
  if (grown.length > 0) await session.query(GROWN, [grown.map(({ id }) => id)]);
}
