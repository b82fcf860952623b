/**
 * Does the work beside the conversations: claims it with a lease, has the subjects below do it, and stores the result
 * as an input (docs/conversation.md, "Inputs, turns and replies"). Reads and writes `conversation_work` and
 * `conversation_inputs`.
 */
import type { WorkInput } from '../../../domain/conversation/input.ts';
import { type Clock, doublingMs } from '../../../ground/base/clock.ts';
import { againAfterConflict, type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { Begun, Turn } from '../../../program/queue/queue.ts';
import { channelIndexOf, toBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readSourceCode } from '../rules/source-steps.ts';
import { type ConversationRow, conversationById } from '../sql/conversations.ts';
import {
  addInputs,
  forgetCode,
  INPUT_BELL,
  type InputRow,
  inputOf,
  openInput,
  type SealedInput,
} from '../sql/inputs.ts';
import { type ClaimedWork, claimWork, endWork, renewWork, retryWork, type WorkKind } from '../sql/work.ts';
import type { IncomeEnd, Later, Performer, WorkOrder } from './ports.ts';

export interface WorkContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly performer: Performer;
  /**
   * Called with work that failed. `isLast`: it is not tried again, and an operator has to look. `error`: what was
   * thrown, or the code for which it was put off.
   */
  readonly onFailure: (work: ClaimedWork, error: unknown, isLast: boolean) => void;
  /** Called with the result of each try; absent: nobody counts it. */
  readonly onTried?: (work: ClaimedWork, result: WorkResult, tookMs: number) => void;
}

/** The result of a try. `gone`: nobody needs the work any more. */
type WorkResult = 'done' | 'later' | 'failed' | 'given_up' | 'gone';

/** How much work one process does at once. A file may take 25 MB of memory, and a contract half a second of a core. */
export const MOST_AT_ONCE: Readonly<Record<WorkKind, number>> = { files: 6, others: 8 };
/**
 * The most files of one partner that a process reads at once, as many as the reader does. So the files of others find a
 * place.
 */
const MOST_OF_PARTNER = 4;
/**
 * How long work is left alone after its process has died. It is short, because a person waits. A living process extends
 * the lease.
 */
const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;
/** Work that takes longer is cut off and tried again. */
const WITHIN_MS = 60_000;
/** With the waits between them, these tries take at least 25 minutes. */
const MOST_TRIES = 11;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** Reasons that only the operator can mend. If the person sent the file again, it would wait for the same reason. */
const OURS: readonly string[] = ['scanner', 'store', 'unknown_key'];
/** The most tries of a file that waits for one of these: with the waits between them, a day. */
const MOST_TRIES_OF_OURS = 150;
/** The reason of work that threw an error, which was logged already. */
const FAILED = 'failed';
/** The reason of work of which no try has ended. */
const DIED = 'process_ended';

/** The most tries of work that is put off for this reason. */
function mostTries(work: ClaimedWork, reason: string | null): number {
  const isOurs = work.work === 'read_document' && reason !== null && OURS.includes(reason);
  return isOurs ? MOST_TRIES_OF_OURS : MOST_TRIES;
}

/** How long work waits after failed try number `tries`; null: it was the last one. */
export function waitAfter(tries: number, most = MOST_TRIES): number | null {
  return tries >= most ? null : doublingMs(tries, FIRST_WAIT_MS, LONGEST_WAIT_MS);
}

/** Begins due work of a kind. The begun work rejects if the store fails; after the lease it is done again. */
export async function beginDue(
  context: WorkContext,
  kind: WorkKind,
  { room, held, cut }: Pick<Turn, 'room' | 'held' | 'cut'>,
): Promise<Begun[]> {
  const share = { room, ofPartner: MOST_OF_PARTNER, held };
  const claimed = await claimWork(context.database, kind, share, LEASE_MS);
  return claimed.map((work) => ({ partnerId: work.partnerId, ended: performOne(context, work, cut) }));
}

/**
 * Does something while the lease is extended. If one renewal fails, the next one comes in time; if the store is away,
 * nobody else takes the work.
 */
async function whileRenewing<T>(
  { database, clock }: WorkContext,
  work: ClaimedWork,
  act: () => Promise<T>,
): Promise<T> {
  const timer = clock.every(RENEW_MS, () => void renewWork(database, work, LEASE_MS).catch(() => {}));
  try {
    return await act();
  } finally {
    timer.cancel();
  }
}

async function performOne(context: WorkContext, work: ClaimedWork, cut: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([cut, context.clock.timeout(WITHIN_MS)]);
  const begunMs = context.clock.monotonicMs();
  const tried = (result: WorkResult) =>
    context.onTried?.(work, result, context.clock.monotonicMs() - begunMs);
  const giveUp = (reason: string) => {
    tried('given_up');
    if (reason !== FAILED) context.onFailure(work, reason, true);
    return conclude(context, work, givenUp(work));
  };
  // The work may have killed the process of each try before.
  if (work.tries > mostTries(work, work.reason)) return giveUp(DIED);
  let end: WorkEnd | Later | null;
  try {
    end = await whileRenewing(context, work, () => perform(context, work, signal));
  } catch (error) {
    // A stop of the process is no failure: after the lease another process does the work.
    if (cut.aborted) return;
    context.onFailure(work, error, work.tries >= MOST_TRIES);
    end = { retryAfterMs: 0, reason: FAILED };
  }
  if (!isLater(end)) {
    tried(end === null ? 'gone' : 'done');
    return conclude(context, work, end);
  }
  const wait = waitAfter(work.tries, mostTries(work, end.reason));
  if (wait === null) return giveUp(end.reason);
  tried(end.reason === FAILED ? 'failed' : 'later');
  const afterMs = Math.max(wait, Math.min(end.retryAfterMs, LONGEST_WAIT_MS));
  await retryWork(context.database, work, afterMs, end.reason);
}

/** The input after the last try: the person has to send a file again; for everything else an operator looks. */
function givenUp({ work, purpose }: ClaimedWork): WorkInput {
  if (work === 'read_document') {
    return { kind: 'document', purpose: purpose ?? 'earnings', fate: { refused: 'gone' } };
  }
  return { kind: 'work_failed' };
}

type WorkEnd = WorkInput & Pick<SealedInput, 'documentIndex'>;

/** Does the work. Null: nobody needs it any more, such as the code of a person who opted out, or of a wrong person. */
async function perform(
  { database, vault, performer }: WorkContext,
  work: ClaimedWork,
  signal: AbortSignal,
): Promise<WorkEnd | Later | null> {
  const conversation = await conversationById(database, work.conversationId);
  if (conversation === null || !wants(conversation, work)) return null;
  const order: WorkOrder = {
    applicationId: work.applicationId,
    partnerId: conversation.partnerId,
    locale: conversation.locale ?? 'es',
    signal,
  };
  switch (work.work) {
    case 'read_document': {
      const input = work.inputId === null ? null : await inputOf(database, work.inputId);
      if (input === null) return null;
      const file = openInput(vault, input);
      if (file.kind !== 'file') return null;
      const purpose = work.purpose ?? 'earnings';
      const inputIndex = documentIndexOf(vault, input);
      const fate = await performer.readDocument(order, { ...file, purpose, inputIndex });
      return isLater(fate) ? fate : { kind: 'document', purpose, fate, documentIndex: inputIndex };
    }
    case 'check_income': {
      return incomeEnd(await performer.checkIncome(order));
    }
    case 'answer_source': {
      const input = work.inputId === null ? null : await inputOf(database, work.inputId);
      const content = input && openInput(vault, input);
      const code = content?.kind === 'text' ? readSourceCode(content.body) : null;
      return code === null ? null : incomeEnd(await performer.answerSource(order, code));
    }
    case 'offer': {
      if (conversation.place === 'data_consent') {
        const outlook = await performer.outlook(order);
        return isLater(outlook) ? outlook : { kind: 'outlook', outlook };
      }
      const offer = await performer.offer(order);
      if (typeof offer === 'string') return { kind: 'offer', offer: null, why: offer };
      return isLater(offer) ? offer : { kind: 'offer', offer };
    }
    case 'make_contract': {
      const contract = await performer.makeContract(order);
      if (typeof contract === 'string') return { kind: 'contract', contract: null, why: contract };
      return isLater(contract) ? contract : { kind: 'contract', contract };
    }
    case 'finish_contract': {
      const contract = await performer.finishContract(order);
      return isLater(contract) ? contract : { kind: 'signed_contract', contract };
    }
    case 'make_schedule': {
      const schedule = await performer.makeSchedule(order);
      return isLater(schedule) ? schedule : { kind: 'schedule', schedule };
    }
    case 'send_code': {
      const sent = await performer.sendCode(order);
      return isLater(sent) ? sent : { kind: 'code', ...sent };
    }
  }
}

/**
 * Whether the conversation still needs the work. After its end it needs only the signed contract and the final
 * schedule, and nothing for a wrong person.
 */
function wants({ endedAt, place, state }: ConversationRow, { work }: ClaimedWork): boolean {
  if (state?.wrongPerson) return false;
  return work === 'finish_contract' || work === 'make_schedule' ? place === 'signed' : endedAt === null;
}

function incomeEnd(end: IncomeEnd): WorkInput | Later {
  return typeof end === 'string' ? { kind: 'income', outcome: end } : end;
}

/**
 * The index by which the document of a message is found, as a decimal text. If the channel gives messages no ids, a
 * text that is no such id stands for it, and is indexed in the same way.
 */
export function documentIndexOf(
  vault: Vault,
  { id, messageIndex }: Pick<InputRow, 'id' | 'messageIndex'>,
): string {
  return toBigint(messageIndex ?? channelIndexOf(vault, `conversation input ${id}`));
}

function isLater(end: unknown): end is Later {
  return typeof end === 'object' && end !== null && 'retryAfterMs' in end;
}

/** Ends the work, and stores its result as an input in the same transaction, so that it counts once. */
async function conclude(
  { database, vault }: WorkContext,
  work: ClaimedWork,
  end: WorkEnd | null,
): Promise<void> {
  await againAfterConflict(() =>
    inTransaction(database, async (session) => {
      if (!(await endWork(session, work.id))) return;
      if (work.work === 'answer_source' && work.inputId !== null) {
        const input = await inputOf(session, work.inputId);
        if (input !== null) await forgetCode(session, vault, input);
      }
      if (end === null) return;
      const { conversationId, applicationId, id: workId } = work;
      const about = { conversationId, applicationId, messageIndex: null, workId };
      await addInputs(session, vault, 'work', [{ ...about, at: null, content: end }]);
    }),
  );
  INPUT_BELL.ring();
}
