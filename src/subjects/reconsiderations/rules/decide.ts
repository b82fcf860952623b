/**
 * Decides what follows when somebody without an open application writes, or somebody asks for the data (D50;
 * docs/reconsiderations.md, "Who gets what"). Pure.
 */
import type { CaseKind } from '../../../domain/application/cases.ts';
import type { Asked } from './words.ts';

/** What somebody wrote, and what is known about the application. */
export interface Situation {
  /** The newest application of the phone is refused. Otherwise only a request for data counts. */
  readonly isRefused: boolean;
  /** The applicant agreed to messages of the service. */
  readonly hasConsent: boolean;
  readonly asked: ReadonlySet<Asked>;
  /** Some message is more than thanks, a refusal, a wish to be written later, or a reaction. */
  readonly isTalk: boolean;
  /** The kinds of the open cases. */
  readonly open: ReadonlySet<CaseKind>;
  /** The kinds whose opening was told within the last 24 hours. */
  readonly acknowledged: ReadonlySet<CaseKind>;
  /** One of these messages has opened a case of the kind before: the channel repeats it. */
  readonly repeated: ReadonlySet<CaseKind>;
  /** A case is answered, and no reply has told the answer. */
  readonly hasUntold: boolean;
  /** The reasons were told within the last 24 hours. */
  readonly toldToday: boolean;
}

/** What a reply says, in this order; nothing: there is no reply. */
export type Part = 'answers' | 'review_asked' | 'data_asked' | 'reasons';

export interface Decided {
  readonly opens: readonly CaseKind[];
  readonly says: readonly Part[];
  /** The messages belong to this: nobody else answers them. */
  readonly takes: boolean;
}

const NOTHING: Decided = { opens: [], says: [], takes: false };

/**
 * Whoever agreed to messages gets the reasons whatever they write. Who did not may be somebody else at a phone that a
 * partner mistyped, and gets them only for a question that shows that they know of the application.
 */
export function decide(situation: Situation): Decided {
  const { isRefused, hasConsent, asked, isTalk, open, repeated, acknowledged, hasUntold, toldToday } =
    situation;
  const wanted = new Set<CaseKind>();
  if (asked.has('data')) wanted.add('data');
  if (asked.has('review') && isRefused) wanted.add('reconsideration');
  const asks = wanted.size > 0 || (asked.has('why') && isRefused);
  // The conversation beside an open application answers the same words.
  if (!asks && !isRefused)
    return hasUntold && isTalk ? { opens: [], says: ['answers'], takes: false } : NOTHING;
  if (!asks && !(isTalk && (hasConsent || hasUntold))) return NOTHING;
  const isNew = (kind: CaseKind) => wanted.has(kind) && !open.has(kind) && !repeated.has(kind);
  const acknowledges = (kind: CaseKind) =>
    isNew(kind) || (wanted.has(kind) && open.has(kind) && !acknowledged.has(kind));
  const says: Part[] = [];
  if (hasUntold) says.push('answers');
  if (acknowledges('reconsideration')) says.push('review_asked');
  if (acknowledges('data')) says.push('data_asked');
  // Whoever asks for a review has read the reasons, or gets them with the next message.
  const wantsReasons = isRefused && !toldToday && wanted.size === 0 && !hasUntold;
  if (wantsReasons && (asked.has('why') || !open.has('reconsideration'))) says.push('reasons');
  return { opens: (['reconsideration', 'data'] as const).filter(isNew), says, takes: true };
}
