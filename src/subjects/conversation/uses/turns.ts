/**
 * Takes turns of many conversations in one transaction: inputs are read; then states, replies, work, evidence and
 * events are written together or not at all (D43; docs/conversation.md, "Inputs, turns and replies"). So a crash at any
 * moment repeats nothing.
 */
import { hash } from 'node:crypto';
import { consentValues } from '../../../domain/conversation/consent.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { completeChanges, type Flow, flowWith } from '../../../domain/conversation/flow.ts';
import { countryOfLocale, languageOfPhone } from '../../../domain/conversation/language.ts';
import { setAsideState } from '../../../domain/conversation/state.ts';
import type { CountryTerms } from '../../../domain/loan/terms.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import {
  againAfterConflict,
  type Database,
  inTransaction,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { isRowFault } from '../../../ground/postgres/row-fault.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { readSpeakers } from '../../applications/sql/speakers.ts';
import { approvalMessages } from '../../messages/sql/changes/turn-changes.ts';
import { REPLY_BELL } from '../../messages/sql/replies.ts';
import { type ConversationId, type ConversationRow, type SetUp, setUp } from '../sql/conversations.ts';
import { flowIdOf, readFlows } from '../sql/flows.ts';
import { newestOfPersons, openInput } from '../sql/inputs.ts';
import { type ClaimedConversation, claimConversations, writeTurns } from '../sql/turns.ts';
import { WORK_BELL } from '../sql/work.ts';
import { takeTurn } from './one-turn.ts';
import { openWaiting, type Waiting } from './open-waiting.ts';
import type { Signing } from './ports.ts';
import type { OpenedInput, TurnResult, Voice } from './turn-result.ts';
import { newWrongPerson, type TakenTurn, writeTaken } from './write-taken.ts';

// The first part: how conversations speak, by flow, language and the partner's name. The first turn reads these for
// good.

/** The flows of a store by version. A version never changes, so a process reads each version once. */
type FlowCache = Map<number, Flow>;
const MOST_FLOWS = 1_000;
/** The language if the phone cannot be read; then no message goes out anyway. */
const UNREAD = { language: 'es', locale: 'es' } as const;

/**
 * The voices of conversations that the transaction has locked. A conversation at its first turn is left out if this
 * process lacks the data key of its applicant.
 */
async function readVoices(
  session: Transaction,
  { vault, flows, termsOf }: Pick<TurnContext, 'vault' | 'flows' | 'termsOf'>,
  rows: readonly ConversationRow[],
): Promise<Map<ConversationId, Voice>> {
  const known = new Map<ConversationId, SetUp>();
  for (const { id, flowId, language, locale, partnerName } of rows) {
    if (flowId === null || language === null || locale === null || partnerName === null) continue;
    known.set(id, { id, flowId, language, locale, partnerName });
  }
  const fresh = await firstVoices(
    session,
    vault,
    rows.filter(({ id }) => !known.has(id)),
  );
  const consents = new Map<ConversationId, string | null>();
  for (const { partnerConsent, ...one } of fresh) {
    known.set(one.id, one);
    consents.set(one.id, partnerConsent);
  }
  await loadFlows(
    session,
    flows,
    [...known.values()].map(({ flowId }) => flowId),
  );
  return new Map(
    [...known.values()].map(({ id, flowId, language, locale, partnerName }) => [
      id,
      {
        flow: flows.get(flowId) ?? DEFAULT_FLOW,
        ...{ language, locale, partner: partnerName, partnerConsent: consents.get(id) ?? null },
        consent: consentValues(language, termsOf(countryOfLocale(locale))),
      },
    ]),
  );
}

async function firstVoices(
  session: Transaction,
  vault: Vault,
  rows: readonly ConversationRow[],
): Promise<(SetUp & Pick<Voice, 'partnerConsent'>)[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ applicationId }) => applicationId);
  const speakers = await readSpeakers(session, vault, ids);
  // Most conversations of a transaction have the same flow.
  const flowIds = new Map<string, number>();
  const made: (SetUp & Pick<Voice, 'partnerConsent'>)[] = [];
  for (const { id, applicationId } of rows) {
    const {
      brand = {},
      partnerName = '',
      phone = null,
      partnerConsent = null,
      isKeyUnknown = false,
    } = speakers.get(applicationId) ?? {};
    // What the first turn reads is kept for good, so it is left to a process that has the key.
    if (isKeyUnknown) continue;
    const own = brand.conversation || {};
    const key = JSON.stringify(own);
    const flowId =
      flowIds.get(key) ?? (await flowIdOf(session, flowWith(DEFAULT_FLOW, completeChanges(own))));
    flowIds.set(key, flowId);
    made.push({
      id,
      flowId,
      ...(phone === null ? UNREAD : languageOfPhone(phone)),
      partnerName: effectiveBrand(brand, partnerName).partner,
      partnerConsent: partnerConsent && hash('sha256', JSON.stringify(partnerConsent)),
    });
  }
  await setUp(session, made);
  return made;
}

async function loadFlows(session: Transaction, flows: FlowCache, ids: readonly number[]): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => !flows.has(id));
  if (missing.length === 0) return;
  if (flows.size + missing.length > MOST_FLOWS) flows.clear();
  // If a version is older than a text, or than a value of it, it gets the default text.
  for (const [id, flow] of await readFlows(session, missing))
    flows.set(id, flowWith(DEFAULT_FLOW, completeChanges(flow)));
}

export interface TurnContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly signing: Signing;
  readonly flows: FlowCache;
  /** The lender's terms of a country (null: unknown), as they are now; null: there are none. */
  readonly termsOf: (country: Country | null) => CountryTerms | null;
  /** Whether a reminder may go to a phone of this country (null: unknown) at the time (docs/contact-windows.md). */
  readonly mayRemind: (country: Country | null, at: Date) => boolean;
  /** Called with a conversation whose rows cannot be read, so that an operator has to look at it. */
  readonly onFault: (conversation: ConversationId, error: unknown) => void;
  /** Called with the turns after their commit; absent: nobody counts them. */
  readonly onTaken?: (taken: TakenTogether) => void;
}

/** The turns of one transaction. */
export interface TakenTogether {
  readonly results: readonly TurnResult[];
  /** Reminders that were queued. */
  readonly reminders: number;
  readonly tookMs: number;
}

/** The most conversations of one transaction. Their turns take less time than a person notices. */
const MOST_AT_ONCE = 200;

/**
 * Takes turns of conversations that have something to do; `ids` narrows them. Returns how many turns were taken. A
 * conversation whose rows cannot be read goes to an operator, and does not stop the others.
 */
export async function takeTurns(
  context: TurnContext,
  ids: readonly ConversationId[] | null = null,
): Promise<number> {
  let claimed: readonly ConversationId[] = [];
  const together = async (session: Transaction) => {
    const rows = await claimConversations(session, context.vault, MOST_AT_ONCE, ids);
    claimed = rows.map(({ id }) => id);
    return takeClaimed(context, session, rows);
  };
  const begunMs = context.clock.monotonicMs();
  let taken: number;
  try {
    const done = await againAfterConflict(() => inTransaction(context.database, together));
    taken = done.results.length;
    if (taken > 0) context.onTaken?.({ ...done, tookMs: context.clock.monotonicMs() - begunMs });
  } catch (error) {
    if (!isRowFault(error) || claimed.length === 0) throw error;
    if (claimed.length > 1) {
      let alone = 0;
      for (const id of claimed) alone += await takeTurns(context, [id]);
      return alone;
    }
    // Another process has the key.
    if (error instanceof UnknownDataKeyError) return 0;
    await setAside(context, claimed, error);
    return 1;
  }
  if (taken > 0) {
    REPLY_BELL.ring();
    WORK_BELL.ring();
  }
  return taken;
}

/**
 * Takes turns of conversations that the transaction has locked. A conversation is left to another process if this one
 * lacks the data key of its applicant.
 */
async function takeClaimed(
  context: TurnContext,
  session: Transaction,
  rows: readonly ClaimedConversation[],
): Promise<Omit<TakenTogether, 'tookMs'>> {
  if (rows.length === 0) return { results: [], reminders: 0 };
  const inputs = await openWaiting(context.vault, session, rows);
  const answered = await answeredMessages(context.vault, session, inputs);
  const voices = await readVoices(session, context, rows);
  const approvals = await approvalMessages(
    session,
    rows
      .filter((row) => mayTellApproval(row, inputs.get(row.id)?.opened ?? []))
      .map(({ applicationId }) => applicationId),
  );
  const taken: TakenTurn[] = [];
  // The applications are always taken in the same order, because proofs and changed phones lock them one after the
  // other.
  for (const row of rows.toSorted((a, b) => a.applicationId - b.applicationId)) {
    const voice = voices.get(row.id);
    if (voice === undefined) continue;
    const { opened, damaged } = inputs.get(row.id) ?? { opened: [], damaged: [] };
    const facts = {
      isDamaged: damaged.length > 0,
      untold: row.untold,
      answers: answered.get(row.id) ?? null,
      approvalMessage: approvals.get(row.applicationId) ?? ('none' as const),
      mayRemind: row.timer === 'remind' && context.mayRemind(countryOfLocale(voice.locale), row.now),
    };
    const result = await takeTurn(session, context.signing, row, opened, voice, facts);
    if (newWrongPerson({ row, result }) !== null) await lockState(session, result.applicationId);
    taken.push({ row, result, opened, damaged });
    if (damaged.length > 0) context.onFault(row.id, damaged[0]!.error);
  }
  const reminders = await writeTaken(context, session, taken);
  return { results: taken.map(({ result }) => result), reminders };
}

/** Whether a turn may have to tell that the review approved. */
function mayTellApproval({ state }: ClaimedConversation, opened: readonly OpenedInput[]): boolean {
  const isReviewed = ({ content }: OpenedInput) =>
    content.kind === 'status' && content.status === 'pending_signature';
  return (state?.approval ?? 'none') !== 'none' || opened.some(isReviewed);
}

/** Gives a conversation whose rows make a turn fail to an operator. Its waiting inputs are set aside. */
async function setAside(
  { database, vault, onFault }: TurnContext,
  ids: readonly ConversationId[],
  error: unknown,
): Promise<void> {
  await inTransaction(database, async (session) => {
    for (const row of await claimConversations(session, vault, 1, ids)) {
      const { id, heardAt, isTrimmed, contractTurn, acceptedInput, inputs } = row;
      const turn = row.turn + 1;
      const state = setAsideState(row, turn);
      const hasHeard = inputs.some(({ source }) => source === 'person');
      const kept = { id, heardAt, isTrimmed, contractTurn, acceptedInput };
      const aside = inputs.map((input) => ({ id: input.id, turn, fault: 'failed' }));
      await writeTurns(session, [{ ...kept, turn, state, hasHeard, timer: null }], aside, [], []);
    }
  });
  for (const id of ids) onFault(id, error);
}

// The last part: which message the reply marks as read if the turn takes none.

/**
 * The channel's ids of the messages that led to the work whose results wait, by conversation. The reply answers these.
 * A message that cannot be read is skipped: a missing mark must not stop a turn.
 */
async function answeredMessages(
  vault: Vault,
  session: Session,
  inputs: ReadonlyMap<ConversationId, Waiting>,
): Promise<ReadonlyMap<ConversationId, string>> {
  const ids = [...inputs]
    .filter(([, { opened }]) => opened.length > 0 && opened.every(({ row }) => row.source === 'work'))
    .map(([id]) => id);
  const found = new Map<ConversationId, string>();
  for (const row of await newestOfPersons(session, ids)) {
    try {
      const { channelId = null, isOfOtherPhone = false } = openInput(vault, row);
      if (channelId !== null && !isOfOtherPhone) found.set(row.conversationId, channelId);
    } catch {
      // This message is skipped, as said above.
    }
  }
  return found;
}
