/** What clients and operators were told is stored, once, as they were told. */
import { INITIAL_STATUS, TRANSITIONS } from '../../../src/domain/application/lifecycle.ts';
import type { Batch, Found, History, Move, Outcome, Review, SentApplication } from '../history.ts';
import { answered, isLike, type Lookup } from '../lookup.ts';

type Registered = Extract<Outcome, { kind: 'registered' }>;

export function checkAcknowledged(history: History, lookup: Lookup): Found[] {
  return [
    ...history.batches.flatMap((batch) => checkBatch(batch, lookup)),
    ...history.reviews.flatMap((review) => checkReview(review, lookup)),
    ...checkMoves(history, lookup),
  ];
}

function checkBatch(batch: Batch, lookup: Lookup): Found[] {
  const texts = batch.applications.flatMap((application, position) => {
    const told = answered(batch).flatMap(({ answer }) => {
      const outcome = answer.outcomes?.[position];
      return outcome?.kind === 'registered' ? [outcome] : [];
    });
    const wrong = told.flatMap((outcome) => {
      const text = differenceOf(batch, application, outcome, lookup);
      return text === null ? [] : [text];
    });
    const stored = lookup.storedAs(application.idNumber).map(({ id }) => id);
    // A key is remembered also where no answer came (D36).
    if ((told.length > 0 || batch.hasKey) && stored.length > 1) {
      wrong.push(`it is stored ${stored.length} times (${stored})`);
    }
    return [...new Set(wrong)].map((text) => `the application of ${application.idNumber}: ${text}`);
  });
  return texts.map((text) => ({ partnerId: batch.partnerId, text }));
}

function differenceOf(
  { partnerId }: Batch,
  sent: SentApplication,
  told: Registered,
  lookup: Lookup,
): string | null {
  const stored = lookup.stored(told.id);
  if (stored === undefined) return `acknowledged as ${told.id}, which is not stored`;
  const { score, decision, status } = told;
  const expected = { partnerId, ...sent, score, decision, status };
  const found = { ...stored, status: stored.moves[0]?.from ?? stored.status };
  const names = (Object.keys(expected) as (keyof typeof expected)[]).filter(
    (name) => expected[name] !== found[name],
  );
  // No phone goes into a text, though the phones of a run are made up.
  return names.length === 0 ? null : `${told.id} is stored with another ${names.join(', ')}`;
}

function checkReview(review: Review, lookup: Lookup): Found[] {
  const { applicationId, action, end } = review;
  const stored = lookup.stored(applicationId);
  if (end !== 'done' || stored?.moves.some((move) => isLike(move, review))) return [];
  const partnerId = stored?.partnerId ?? null;
  return [{ partnerId, text: `${action} of ${applicationId} was acknowledged, and its history lacks it` }];
}

/** The decision gives the first status. Each move is allowed and has its review, and the next one begins at its end. */
function checkMoves({ store }: History, lookup: Lookup): Found[] {
  return store.applications.flatMap(({ id, partnerId, decision, moves, status }) => {
    const first = moves[0]?.from ?? status;
    const isLikeDecision = decision === null || INITIAL_STATUS[decision] === first;
    const texts = moves.flatMap((move, index) => [
      ...(isAllowed(move) ? [] : [`${move.action} of ${id} led from ${move.from} to ${move.to}`]),
      ...(lookup.reviewsFor(id, move).length > 0 ? [] : [`${move.action} of ${id} came from nobody`]),
      ...(move.to === (moves[index + 1]?.from ?? status) ? [] : [`${id} was ${move.to} and then is not`]),
    ]);
    if (!isLikeDecision) texts.push(`${id} was ${decision}, and began as ${first}`);
    return texts.map((text) => ({ partnerId, text }));
  });
}

function isAllowed({ action, from, to }: Move): boolean {
  return TRANSITIONS[action].from.includes(from) && TRANSITIONS[action].to === to;
}
