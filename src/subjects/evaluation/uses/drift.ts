/** Compares the applications of the last days with those that the live policy began with (D51). Reads only. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { readLive } from '../../policies/sql/policies.ts';
import { Distribution, type Drift, driftOf } from '../rules/drift.ts';
import {
  activatedAt,
  batchesFrom,
  type DecidedBatch,
  dayBefore,
  decidedBatches,
} from '../sql/decided-batches.ts';

/** Applications of the baseline: the first ones after the activation. */
export const BASELINE = 5_000;

export interface DriftAsked {
  /** The last so many days are compared. */
  readonly days: number;
  /** The days of the baseline, `YYYY-MM-DD`, both included; null: the first applications after the activation. */
  readonly baseline: { readonly from: string; readonly to: string } | null;
}

export interface DriftFound {
  readonly version: string;
  readonly baseline: number;
  readonly applications: number;
  readonly rows: readonly Drift[];
}

/** The drift of the live policy's characteristics; null: no policy is live yet. */
export async function drift(
  session: Session,
  { days, baseline: asked }: DriftAsked,
): Promise<DriftFound | null> {
  const live = await readLive(session);
  if (live === null) return null;
  const { card } = live;
  const now = new Distribution(card);
  for await (const page of decidedBatches(session, await dayBefore(session, days))) addAll(now, page);
  const baseline =
    asked === null
      ? await firstAfter(session, card, await activatedAt(session, live.activationId))
      : await within(session, card, asked);
  const rows = driftOf(baseline, now);
  return { version: card.version, baseline: baseline.applications, applications: now.applications, rows };
}

async function firstAfter(session: Session, card: Card, at: Date): Promise<Distribution> {
  const first = new Distribution(card);
  for await (const page of batchesFrom(session, at)) {
    addAll(first, page, BASELINE);
    if (first.applications >= BASELINE) break;
  }
  return first;
}

async function within(
  session: Session,
  card: Card,
  { from, to }: NonNullable<DriftAsked['baseline']>,
): Promise<Distribution> {
  const found = new Distribution(card);
  for await (const page of decidedBatches(session, from))
    addAll(
      found,
      page.filter(({ day }) => day <= to),
    );
  return found;
}

function addAll(
  distribution: Distribution,
  page: readonly DecidedBatch[],
  most = Number.POSITIVE_INFINITY,
): void {
  const decided = new DecidedFacts();
  for (const { facts } of page) {
    for (let position = decided.beginText(facts) - 1; position >= 0; position -= 1) {
      if (distribution.applications >= most) return;
      if (decided.read(position) === 'read') distribution.add(decided.facts);
    }
  }
}
