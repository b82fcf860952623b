/**
 * Stores what persons said, each message once, before the channel gets its answer (D43). Reads the tables of other
 * machines first, and then writes in statements about the coordinator's tables alone.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Heard } from '../../../domain/message/heard.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type KnownUser, learnUsers } from '../../messages/sql/channel-users.ts';
import { type InterestTap, recordInterest } from '../../messages/sql/interest.ts';
import { addInputs, inputsOfHour, type NewInput } from '../sql/inputs.ts';
import {
  applicationsOfContexts,
  conversationsOfApplications,
  conversationsOfPhones,
  type Found,
  signedOfPhones,
} from '../sql/match.ts';
import { beginByTaps } from './begin-by-tap.ts';
import { INPUT_BELL } from './bells.ts';
import { asWords, contentOf } from './heard-content.ts';
import { answerStrangers, type StrangerNotice } from './strangers.ts';
import { foundFor, interestOf, isOfOtherPhone, withdrawalIn } from './whose.ts';

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
  /** Those of them whose phone has an open application with an offer. */
  readonly notices: readonly StrangerNotice[];
}

/**
 * Begins conversations, stores the messages of persons who have one, and answers those of others who have an offer. It
 * may be called again with the same.
 */
export async function hearMessages(context: HearingContext, all: readonly Heard[]): Promise<HeardCounts> {
  const heard = all.map(asWords);
  const begun = await beginByTaps(context.database, heard);
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
  const signed = await signedOfPhones(
    context.database,
    heard.flatMap((one) => (withdrawalIn(one) === null ? [] : (one.phoneIndex ?? []))),
  );
  const known = heard.flatMap((one) => {
    const found = foundFor(one, { contexts, applications, phones, signed });
    return found === null ? [] : [{ one, found }];
  });
  await noteLateKnown(context, known);
  const inputs = known.map(
    ({ one, found }): NewInput => ({
      conversationId: found.id,
      applicationId: found.applicationId,
      messageIndex: one.messageIndex,
      workId: null,
      at: one.event.at,
      content: {
        ...contentOf(one, found.applicationId),
        sentMs: one.event.at.getTime(),
        ...(isOfOtherPhone(one, found) && { isOfOtherPhone: true }),
      },
    }),
  );
  const { kept, beyond } = await withinBound(context, inputs);
  const stored = await againAfterConflict(() => addInputs(context.database, context.vault, 'person', kept));
  if (stored > 0) INPUT_BELL.ring();
  const isKnown = new Set(known.map(({ one }) => one));
  const strangers = heard.filter((one) => !isKnown.has(one));
  const notices = await answerStrangers(context, strangers);
  return { begun, stored, beyond, strangers: strangers.length, notices };
}

/**
 * The channel's id of a message may be recorded after the intake has asked for the phone of a person, and before this
 * module asks. Then the interest and the person are noted here: else the person's next message would be nobody's.
 */
async function noteLateKnown(
  { database }: HearingContext,
  known: readonly { readonly one: Heard; readonly found: Found }[],
): Promise<void> {
  const late = known.filter(({ one }) => one.phoneIndex === null);
  const users = late.flatMap(({ one: { userIndex }, found: { phoneIndex } }): KnownUser[] =>
    userIndex === null ? [] : [{ userIndex, phoneIndex }],
  );
  await learnUsers(database, users);
  const taps = late.flatMap(({ one, found: { phoneIndex } }): InterestTap[] => {
    const applicationId = interestOf(one);
    return applicationId === null
      ? []
      : [{ applicationId, phoneIndex, contextIndex: one.contextIndex, at: one.event.at }];
  });
  await recordInterest(database, taps);
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
