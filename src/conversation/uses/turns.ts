/**
 * Turns of many conversations in one transaction: inputs in, then states, replies, work, evidence and events together,
 * or none of them. So a crash between any two steps repeats nothing.
 */
import { UnknownDataKeyError } from '../../base/unknown-data-key.ts';
import { addConversationEvents } from '../../events/sql/conversation-events.ts';
import { queueReminder } from '../../messages/sql/reminders.ts';
import { queueReplies, REPLY_BELL, sealReply } from '../../messages/sql/replies.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { type Database, inTransaction, type Transaction } from '../../postgres/database.ts';
import { isRowFault } from '../../postgres/row-fault.ts';
import { fromBigint } from '../../seal/blind-indexes.ts';
import type { Vault } from '../../seal/vault.ts';
import { newState } from '../rules/state.ts';
import {
  type ConversationId,
  type ConversationRow,
  claimConversations,
  writeTurns,
} from '../sql/conversations.ts';
import { type InputRow, markTaken, openInput, putOff, waitingInputs } from '../sql/inputs.ts';
import { queueWork } from '../sql/work.ts';
import { WORK_BELL } from './bells.ts';
import { type OpenedInput, type TurnResult, takeTurn } from './one-turn.ts';
import type { Signing } from './ports.ts';
import { type FlowCache, readVoices } from './voices.ts';

export interface TurnContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly signing: Signing;
  readonly flows: FlowCache;
  /** Called with a conversation that an operator has to look at, because its rows cannot be read. */
  readonly onFault: (conversation: ConversationId, error: unknown) => void;
}

/** The conversations of one transaction: so many turns take less time than a person notices. */
const MOST_AT_ONCE = 200;

type Claimed = ConversationRow & { readonly now: Date };

/**
 * Takes turns of conversations that have something to do; `ids` narrows them. Returns how many turns were taken. A
 * conversation whose rows cannot be read goes to an operator, and stops no other one.
 */
export async function takeTurns(
  context: TurnContext,
  ids: readonly ConversationId[] | null = null,
): Promise<number> {
  let claimed: readonly ConversationId[] = [];
  const together = async (session: Transaction) => {
    const rows = await claimConversations(session, MOST_AT_ONCE, ids);
    claimed = rows.map(({ id }) => id);
    return takeClaimed(context, session, rows);
  };
  const taken = await againAfterConflict(() => inTransaction(context.database, together)).catch(
    async (error) => {
      if (!isRowFault(error) || claimed.length === 0) throw error;
      if (claimed.length > 1) {
        let alone = 0;
        for (const id of claimed) alone += await takeTurns(context, [id]);
        return alone;
      }
      await setAside(context, claimed, error);
      return 1;
    },
  );
  if (taken > 0) {
    REPLY_BELL.ring();
    WORK_BELL.ring();
  }
  return taken;
}

/** Turns of conversations that a transaction has locked, as a part of it. */
export async function takeClaimed(
  context: TurnContext,
  session: Transaction,
  rows: readonly Claimed[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const inputs = await openWaiting(context, session, rows);
  const voices = await readVoices(session, context, rows);
  const results: { row: Claimed; result: TurnResult; taken: readonly InputRow[] }[] = [];
  for (const row of rows) {
    const { opened, damaged } = inputs.get(row.id) ?? { opened: [], damaged: [] };
    const result = await takeTurn(
      session,
      context.signing,
      row,
      opened,
      voices.get(row.id)!,
      damaged.length > 0,
    );
    results.push({ row, result, taken: opened.map((one) => one.row) });
    if (damaged.length > 0) context.onFault(row.id, damaged[0]!.error);
  }
  await writeAll(context, session, results);
  await markTaken(session, takenOf(results, inputs));
  return rows.length;
}

interface Waiting {
  readonly opened: OpenedInput[];
  readonly damaged: { readonly row: InputRow; readonly error: unknown }[];
}

/** The inputs that wait, opened. Those whose data key another process has are left to it. */
async function openWaiting(
  { vault }: TurnContext,
  session: Transaction,
  rows: readonly Claimed[],
): Promise<Map<ConversationId, Waiting>> {
  const byConversation = new Map<ConversationId, Waiting>();
  const unknown: string[] = [];
  for (const row of await waitingInputs(
    session,
    rows.map(({ id }) => id),
  )) {
    const waiting = byConversation.get(row.conversation_id) ?? { opened: [], damaged: [] };
    byConversation.set(row.conversation_id, waiting);
    try {
      waiting.opened.push({ row, content: openInput(vault, row) });
    } catch (error) {
      if (error instanceof UnknownDataKeyError) unknown.push(row.id);
      else waiting.damaged.push({ row, error });
    }
  }
  await putOff(session, unknown);
  return byConversation;
}

function takenOf(
  results: readonly { row: Claimed; result: TurnResult; taken: readonly InputRow[] }[],
  inputs: ReadonlyMap<ConversationId, Waiting>,
) {
  return results.flatMap(({ row, result, taken }) => {
    const { turn } = result.written;
    const damaged = inputs.get(row.id)?.damaged ?? [];
    return [
      ...taken.map(({ id }) => ({ id, turn, fault: null })),
      ...damaged.map((one) => ({ id: one.row.id, turn, fault: 'unreadable' })),
    ];
  });
}

/** Everything that the turns came to. Partner events come last: their locks are the last ones of a transaction. */
async function writeAll(
  { vault, signing }: TurnContext,
  session: Transaction,
  results: readonly { row: Claimed; result: TurnResult }[],
): Promise<void> {
  await writeTurns(
    session,
    results.map(({ result }) => result.written),
  );
  await queueReplies(
    session,
    results.flatMap(({ row, result: { reply, applicationId, written } }) => {
      if (reply === null) return [];
      const { text, buttons, document, readMessageId, windowUntil } = reply;
      const body = {
        text,
        buttons,
        ...(document !== null && { document: { mediaId: document.mediaId, filename: document.filename } }),
      };
      return [
        {
          ...{ applicationId, turn: written.turn, partnerId: row.partner_id, windowUntil },
          phoneIndex: fromBigint<'phone'>(row.phone_index),
          content: sealReply(vault, { applicationId, turn: written.turn }, { ...body, readMessageId }),
        },
      ];
    }),
  );
  await queueWork(
    session,
    results.flatMap(({ result }) => result.work),
  );
  await signing.recordEvidence(
    session,
    results.map(({ result: { applicationId, evidence } }) => ({ applicationId, entries: evidence })),
  );
  for (const { result } of results) if (result.reminds) await queueReminder(session, result.applicationId);
  await addConversationEvents(
    session,
    results.flatMap(({ row, result }) =>
      result.told.map((told) => ({
        partnerId: row.partner_id,
        applicationId: result.applicationId,
        ...told,
      })),
    ),
  );
}

/** Gives a conversation to an operator whose rows make a turn fail. What waits for it is left aside. */
async function setAside(
  { database, onFault }: TurnContext,
  ids: readonly ConversationId[],
  error: unknown,
): Promise<void> {
  await inTransaction(database, async (session) => {
    for (const row of await claimConversations(session, 1, ids)) {
      const turn = row.turn + 1;
      const held = {
        ...newState(row.status),
        place: row.place,
        heldBy: 'operator',
        handedOver: 'unreadable',
      } as const;
      const written = {
        id: row.id,
        turn,
        heardAt: row.heard_at,
        timer: null,
        contractTurn: row.contract_turn,
      };
      await writeTurns(session, [{ ...written, state: held, acceptedInput: row.accepted_input }]);
      const waiting = await waitingInputs(session, [row.id]);
      await markTaken(
        session,
        waiting.map(({ id }) => ({ id, turn, fault: 'failed' })),
      );
    }
  });
  for (const id of ids) onFault(id, error);
}
