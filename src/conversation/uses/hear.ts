/**
 * Stores what persons said, each message once, before the channel gets its answer (D43). Reads the tables of other
 * machines first, and then writes in statements about the coordinator's tables alone.
 */
import { type ApplicationId, toApplicationId } from '../../applications/rules/ids.ts';
import { markConversations } from '../../applications/sql/application-marks.ts';
import type { TapEvent } from '../../messages/rules/channel-event.ts';
import type { Heard } from '../../messages/rules/heard.ts';
import { asksToStop } from '../../messages/rules/opt-out-words.ts';
import { parseInterestPayload } from '../../messages/rules/outgoing-message.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { type Database, inTransaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { parsePayload } from '../rules/payload.ts';
import {
  beginConversations,
  type Candidate,
  channelIndexesOf,
  readCandidates,
  suppressedOf,
} from '../sql/begin.ts';
import { addInputs, type NewInput, type SealedInput } from '../sql/inputs.ts';
import {
  applicationsOfContexts,
  conversationsOfApplications,
  conversationsOfPhones,
  type Found,
} from '../sql/match.ts';
import { INPUT_BELL } from './bells.ts';

/** The channel's own limit of a text. */
const MAX_TEXT_LENGTH = 4_096;

interface HearingContext {
  readonly database: Database;
  readonly vault: Vault;
}

/** For a log line. */
export interface HeardCounts {
  readonly begun: number;
  readonly stored: number;
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
  const stored = await againAfterConflict(() => addInputs(context.database, context.vault, 'person', inputs));
  if (stored > 0) INPUT_BELL.ring();
  return { begun, stored, strangers: heard.length - inputs.length };
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
    ({ applicationId, phoneIndex, brand }) =>
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

/** What is kept of a message, sealed. A button of another application is a button like any other. */
function contentOf({ event, optsOut }: Heard, applicationId: ApplicationId): SealedInput {
  const channelId = event.messageId ?? null;
  switch (event.kind) {
    case 'tap': {
      // A word on the button: the text says what else it means.
      if (optsOut) return { kind: 'text', body: stopWordOf(event), channelId };
      const interest = parseInterestPayload(event.payload);
      if (interest !== null && interest === toApplicationId(applicationId))
        return { kind: 'interest', channelId };
      const isOurs = parsePayload(event.payload)?.applicationId === applicationId;
      return { kind: 'tap', payload: isOurs ? event.payload : '', channelId };
    }
    case 'text':
      return { kind: 'text', body: event.body.slice(0, MAX_TEXT_LENGTH), channelId };
    case 'file': {
      const { media, mediaId, claimedType, claimedSha256, filename } = event;
      return { kind: 'file', media, mediaId, claimedType, claimedSha256, filename, channelId };
    }
    case 'other':
      return { kind: 'other', what: event.what, channelId };
  }
}

function stopWordOf({ payload, title }: TapEvent): string {
  return title !== null && asksToStop(title) ? title : payload;
}
