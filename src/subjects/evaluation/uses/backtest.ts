/**
 * Tries a policy on stored applications (D51), and stores the result, which an activation may then rest on. Reads
 * `batches`; stores by the policies' `sql/backtests.ts` and records the act.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { applicationIdAt, toBatchId } from '../../../domain/application/ids.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import {
  keepBacktest,
  listBacktests,
  newestBacktestsOf,
  readBacktest,
  type StoredBacktest,
} from '../../policies/sql/backtests.ts';
import { digestOf } from '../../policies/sql/digest.ts';
import { findVersion } from '../../policies/uses/versions.ts';
import { Backtest, type BacktestReport } from '../rules/backtest-report.ts';
import { LabelCount, type LabelKind, type LabelReport } from '../rules/label-report.ts';
import { type DecidedBatch, decidedBatches, readCards, readPartnerNames } from '../sql/decided-batches.ts';
import { type KnownLabels, labelsBetween, storedLabelKinds } from '../sql/labels.ts';

/** With what became of the applications, as far as it is known. */
export interface TriedReport extends BacktestReport {
  readonly labels: readonly LabelReport[];
}

/** A report with the time that it took. */
export interface TimedReport extends TriedReport {
  readonly seconds: number;
}

export type StoredReport = StoredBacktest<TimedReport>;

/** Hears how many applications a run has tried. */
export type Progress = (applications: number) => void;

/** The event loop is free after so many applications, which take a millisecond or two: a service may run it. */
const AT_ONCE = 2_000;

/** Tries `card` on what was registered on or after the day `since`, `YYYY-MM-DD`; null: on everything. */
export async function backtest(
  session: Session,
  card: Card,
  since: string | null,
  progress: Progress = () => {},
): Promise<TriedReport> {
  const cards = await readCards(session);
  const labels = new Map((await storedLabelKinds(session)).map((kind) => [kind, new LabelCount()] as const));
  const counts = new Backtest(card);
  const decided = new DecidedFacts();
  let [tried, told] = [0, 0];
  for await (const page of decidedBatches(session, since)) {
    const known = labels.size === 0 ? NONE : await labelsOf(session, [...labels.keys()], page);
    for (const { id, policyId, partnerId, day, facts } of page) {
      const batch = counts.batch(cards.get(policyId) ?? card, partnerId, day);
      const positions = decided.beginText(facts);
      for (let position = positions - 1; position >= 0; position -= 1) {
        const found = decided.read(position);
        if (found === 'damaged') batch.addDamaged();
        if (found !== 'read') continue;
        const after = batch.add(decided.facts, decided.decision);
        if (known.size === 0) continue;
        for (const [kind, isBad] of known.get(applicationIdAt(id, position)) ?? [])
          labels.get(kind)?.add(isBad, decided, after);
      }
      tried += positions;
      if (tried - told < AT_ONCE) continue;
      told = tried;
      progress(tried);
      await nextTurn();
    }
  }
  const report = counts.report(await readPartnerNames(session, counts.partners));
  const reports = [...labels].map(([kind, count]) => count.report(kind));
  return { ...report, labels: reports.filter(({ labelled }) => labelled > 0) };
}

const NONE: KnownLabels = new Map();

/** The labels of a page of batches, which begins with the newest one. */
function labelsOf(
  session: Session,
  kinds: readonly LabelKind[],
  page: readonly DecidedBatch[],
): Promise<KnownLabels> {
  const [from, last] = [page.at(-1)!.id, page[0]!.id];
  return labelsBetween(
    session,
    kinds,
    applicationIdAt(from, 0),
    applicationIdAt(toBatchId(Number(last) + 1), 0),
  );
}

/**
 * Tries a version, also a draft, and stores the result at the end: a run that is ended before leaves nothing. Throws
 * `OperatorError` where there is no such version.
 */
export async function tryVersion(
  context: OperatorContext,
  version: string,
  since: string | null,
  progress?: Progress,
): Promise<StoredReport> {
  const { card, content } = await findVersion(context, version);
  const began = context.clock.monotonicMs();
  const report = await backtest(context.database, card, since, progress);
  const seconds = (context.clock.monotonicMs() - began) / 1000;
  const sha256 = digestOf(content);
  const result = { version, sha256, since, by: context.actor, report: { ...report, seconds } };
  return acting(
    context,
    ({ database }) => keepBacktest(database, result),
    ({ id }) => ({ act: 'policy backtest', target: `policy ${version}, backtest ${id}` }),
  );
}

/** A stored result; null: there is none. */
export function storedBacktest({ database }: OperatorContext, id: number): Promise<StoredReport | null> {
  return readBacktest(database, id);
}

/** The newest stored results of a version. */
export function newestBacktests(session: Session, version: string, most: number): Promise<StoredReport[]> {
  return newestBacktestsOf(session, version, most);
}

/** All stored results, the newest first. */
export function storedBacktests({ database }: OperatorContext): Promise<StoredReport[]> {
  return listBacktests(database);
}
