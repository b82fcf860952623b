/** Begins conversations by the tap on "I am interested" (D43). */

import type { Heard } from '../../../domain/message/heard.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { markConversations } from '../../applications/sql/application-marks.ts';
import {
  beginConversations,
  type Candidate,
  channelIndexesOf,
  readCandidates,
  suppressedOf,
} from '../sql/begin.ts';
import { applicationsOfContexts, conversationsOfApplications } from '../sql/match.ts';
import { interestOf } from './whose.ts';

/** Begins the conversations that these messages begin. Returns how many. It may be called again with the same. */
export async function beginByTaps(database: Database, heard: readonly Heard[]): Promise<number> {
  return begin(database, await candidatesOf(database, heard));
}

/**
 * The applications that taps may begin a conversation for: open, with a brand that does not say no, tapped on the phone
 * of the application or, where the channel tells no phone, on one of its messages, and whose phone wants messages. Of
 * a conversation that ended in review, only the tap on the message that told of the approval afterwards begins another
 * one, or a later tap of which the channel does not say what it is on.
 */
async function candidatesOf(database: Database, heard: readonly Heard[]): Promise<Beginning[]> {
  const taps = heard.flatMap((one) => {
    const applicationId = interestOf(one);
    return applicationId === null ? [] : [{ ...one, applicationId }];
  });
  if (taps.length === 0) return [];
  const ids = [...new Set(taps.map(({ applicationId }) => applicationId))];
  const known = await conversationsOfApplications(database, ids);
  const found = await readCandidates(
    database,
    ids.filter((id) => known.get(id)?.mayBeginAgain ?? true),
  );
  if (found.length === 0) return [];
  const messages = await channelIndexesOf(
    database,
    found.map(({ applicationId }) => applicationId),
  );
  const received = await applicationsOfContexts(
    database,
    known.size === 0 ? [] : taps.flatMap(({ contextIndex }) => contextIndex ?? []),
  );
  const suppressed = await suppressedOf(
    database,
    found.map(({ phoneIndex }) => phoneIndex),
  );
  return found.flatMap((candidate): Beginning[] => {
    const { applicationId, phoneIndex, brand, hasConsent, isWrongPerson } = candidate;
    const before = known.get(applicationId);
    const { all, approval } = messages.get(applicationId) ?? NO_MESSAGES;
    if (!hasConsent || isWrongPerson || brand.conversation === false || suppressed.has(phoneIndex)) return [];
    if (before !== undefined && approval === null) return [];
    // Whatever else the person received came before the end.
    const isLater = ({ contextIndex, event }: Heard, endedAt: Date | null) =>
      (contextIndex === null || !received.has(contextIndex)) && endedAt !== null && event.at > endedAt;
    const begins = taps.some(
      (tap) =>
        tap.applicationId === applicationId &&
        (before === undefined || tap.contextIndex === approval || isLater(tap, before.endedAt)) &&
        (tap.phoneIndex === phoneIndex ||
          (tap.event.from === null && tap.contextIndex !== null && all.has(tap.contextIndex))),
    );
    return begins ? [{ candidate, isAgain: before !== undefined }] : [];
  });
}

const NO_MESSAGES = { all: new Set<string>(), approval: null };

/** A conversation to begin; `isAgain`: the application has had one. */
interface Beginning {
  readonly candidate: Candidate;
  readonly isAgain: boolean;
}

/** The applications are marked first: from then on a payment needs the signature (D46). */
async function begin(database: Database, beginnings: readonly Beginning[]): Promise<number> {
  if (beginnings.length === 0) return 0;
  const ids = beginnings.map(({ candidate }) => candidate.applicationId);
  const marked = new Set(
    await againAfterConflict(() => inTransaction(database, (session) => markConversations(session, ids))),
  );
  let begun = 0;
  for (const again of [false, true]) {
    const open = beginnings.filter(
      ({ candidate, isAgain }) => isAgain === again && marked.has(candidate.applicationId),
    );
    const candidates = open.map(({ candidate }) => candidate);
    begun += (await againAfterConflict(() => beginConversations(database, candidates, again))).length;
  }
  return begun;
}
