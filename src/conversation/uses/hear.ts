/**
 * Stores what persons said, each message once, before the channel gets its answer (D43). Reads the tables of other
 * machines first, and then writes in statements about the coordinator's tables alone.
 */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { markConversations } from '../../applications/sql/application-marks.ts';
import type { Heard } from '../../messages/rules/heard.ts';
import { parseInterestPayload } from '../../messages/rules/outgoing-message.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { type Database, inTransaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import {
  beginConversations,
  type Candidate,
  channelIndexesOf,
  readCandidates,
  suppressedOf,
} from '../sql/begin.ts';
import { addInputs, inputsOfHour, type NewInput } from '../sql/inputs.ts';
import {
  applicationsOfContexts,
  conversationsOfApplications,
  conversationsOfPhones,
  type Found,
} from '../sql/match.ts';
import { INPUT_BELL } from './bells.ts';
import { contentOf } from './heard-content.ts';

interface HearingContext {
  readonly database: Database;
  readonly vault: Vault;
}

/** For log lines. */
export interface HeardCounts {
  readonly begun: number;
  readonly stored: number;
  /** Messages that were not stored, because their person has sent too many, by application. */
  readonly beyond: ReadonlyMap<ApplicationId, number>;
  /** Messages of persons who have no conversation. */
  readonly strangers: number;
}

/** Begins conversations, and stores the messages of persons who have one. It may be called again with the same. */
export async function hearMessages(context: HearingContext, heard: readonly Heard[]): Promise<HeardCounts> {
  const candidates = await candidatesOf(context, heard);
  const begun = await begin(context, candidates);
  const contexts = await applicationsOfContexts(
    context.database,
    heard.flatMap(({ contextIndex }) => contextIndex ?? []),
  );
  const applications = await conversationsOfApplications(context.database, [
    ...contexts.values(),
    ...heard.flatMap((one) => interestOf(one) ?? []),
  ]);
  const phones = await conversationsOfPhones(
    context.database,
    heard.flatMap(({ phoneIndex }) => phoneIndex ?? []),
  );
  const inputs = heard.flatMap((one): NewInput[] => {
    const found = foundFor(one, { contexts, applications, phones });
    if (found === null) return [];
    return [
      {
        conversationId: found.id,
        applicationId: found.applicationId,
        messageIndex: one.messageIndex,
        workId: null,
        at: one.event.at,
        content: contentOf(one, found.applicationId),
      },
    ];
  });
  const { kept, beyond } = await withinBound(context, inputs);
  const stored = await againAfterConflict(() => addInputs(context.database, context.vault, 'person', kept));
  if (stored > 0) INPUT_BELL.ring();
  return { begun, stored, beyond, strangers: heard.length - inputs.length };
}

/** Bounds what one person can make the service store, read and answer. */
const MOST_AN_HOUR = 200;

/** The inputs that their conversations have room for, the first ones first. */
async function withinBound({ database }: HearingContext, inputs: readonly NewInput[]) {
  const used = await inputsOfHour(
    database,
    inputs.map(({ conversationId }) => conversationId),
    MOST_AN_HOUR,
  );
  const beyond = new Map<ApplicationId, number>();
  const kept = inputs.filter(({ conversationId, applicationId }) => {
    const before = used.get(conversationId) ?? 0;
    used.set(conversationId, before + 1);
    if (before < MOST_AN_HOUR) return true;
    beyond.set(applicationId, (beyond.get(applicationId) ?? 0) + 1);
    return false;
  });
  return { kept, beyond };
}

function interestOf({ event, optsOut }: Heard): ApplicationId | null {
  return event.kind === 'tap' && !optsOut ? parseInterestPayload(event.payload) : null;
}

/**
 * The applications that taps may begin a conversation for: open, with a brand that does not say no, tapped on the phone
 * of the application or on one of its messages, and whose phone wants messages.
 */
async function candidatesOf({ database }: HearingContext, heard: readonly Heard[]): Promise<Candidate[]> {
  const taps = heard.flatMap((one) => {
    const applicationId = interestOf(one);
    return applicationId === null ? [] : [{ ...one, applicationId }];
  });
  if (taps.length === 0) return [];
  const ids = [...new Set(taps.map(({ applicationId }) => applicationId))];
  const known = await conversationsOfApplications(database, ids);
  const found = await readCandidates(
    database,
    ids.filter((id) => !known.has(id)),
  );
  if (found.length === 0) return [];
  const messages = await channelIndexesOf(
    database,
    found.map(({ applicationId }) => applicationId),
  );
  const suppressed = await suppressedOf(
    database,
    found.map(({ phoneIndex }) => phoneIndex),
  );
  return found.filter(
    ({ applicationId, phoneIndex, brand, hasConsent }) =>
      hasConsent &&
      brand.conversation !== false &&
      !suppressed.has(phoneIndex) &&
      taps.some(
        (tap) =>
          tap.applicationId === applicationId &&
          (tap.phoneIndex === phoneIndex ||
            (tap.contextIndex !== null && messages.get(applicationId)?.has(tap.contextIndex) === true)),
      ),
  );
}

/** The applications are marked first: from then on a payment needs the signature (D46). */
async function begin({ database }: HearingContext, candidates: readonly Candidate[]): Promise<number> {
  if (candidates.length === 0) return 0;
  const ids = candidates.map(({ applicationId }) => applicationId);
  const marked = new Set(
    await againAfterConflict(() => inTransaction(database, (session) => markConversations(session, ids))),
  );
  const open = candidates.filter(({ applicationId }) => marked.has(applicationId));
  return (await againAfterConflict(() => beginConversations(database, open, false))).length;
}

interface Known {
  readonly contexts: ReadonlyMap<string, ApplicationId>;
  readonly applications: ReadonlyMap<ApplicationId, Found>;
  readonly phones: ReadonlyMap<string, Found>;
}

/**
 * The conversation of the message that the person answers, or of the phone. One that is open wins over one that ended,
 * because the phone is then of the person who has the open one.
 */
function foundFor(one: Heard, { contexts, applications, phones }: Known): Found | null {
  const interest = interestOf(one);
  const application = (one.contextIndex && contexts.get(one.contextIndex)) ?? null;
  const byContext = application === null ? null : (applications.get(application) ?? null);
  const byPhone = one.phoneIndex === null ? null : (phones.get(one.phoneIndex) ?? null);
  const tapped = interest === null ? null : (applications.get(interest) ?? null);
  const byTap =
    tapped !== null && (tapped.phoneIndex === one.phoneIndex || byContext?.id === tapped.id) ? tapped : null;
  const found = [byTap, byContext, byPhone].filter((some) => some !== null);
  return found.find(({ isOpen }) => isOpen) ?? found[0] ?? null;
}
