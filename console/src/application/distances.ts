/** How far a score is from the bands of the policy that decided. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';

export interface Distance {
  /** The points that are missing to the band's least score, or that the score is above what is below it. */
  readonly points: number;
  readonly is: 'missing' | 'above';
  readonly band: 'approved' | 'in_review';
  /** The least score of the band. */
  readonly from: number;
}

/** To the next better band first, then to the next worse one; none of a score that cannot be read. */
export function distancesOf(score: number | null, bands: ApplicationReply['bands']): Distance[] {
  if (score === null) return [];
  const all = (['in_review', 'approved'] as const).map((band) => ({ band, from: bands[band] }));
  const better = all.find(({ from }) => score < from);
  const worse = all.findLast(({ from }) => score >= from);
  return [
    ...(better === undefined ? [] : [{ ...better, is: 'missing' as const, points: better.from - score }]),
    ...(worse === undefined ? [] : [{ ...worse, is: 'above' as const, points: score - worse.from }]),
  ];
}
