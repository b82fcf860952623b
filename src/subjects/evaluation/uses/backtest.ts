/**
 * Tries a policy on stored applications (D51), and stores the result, which an activation may then rest on. Reads
 * `batches`; stores by the policies' `sql/backtests.ts` and records the act.
 */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import {
  keepBacktest,
  listBacktests,
  readBacktest,
  type StoredBacktest,
} from '../../policies/sql/backtests.ts';
import { digestOf } from '../../policies/sql/digest.ts';
import { findVersion } from '../../policies/uses/versions.ts';
import { Backtest, type BacktestReport } from '../rules/backtest-report.ts';
import { decidedBatches, readCards, readPartnerNames } from '../sql/decided-batches.ts';

/** A report with the time that it took. */
export interface TimedReport extends BacktestReport {
  readonly seconds: number;
}

export type StoredReport = StoredBacktest<TimedReport>;

/** Tries `card` on what was registered on or after the day `since`, `YYYY-MM-DD`; null: on everything. */
export async function backtest(session: Session, card: Card, since: string | null): Promise<BacktestReport> {
  const cards = await readCards(session);
  const counts = new Backtest(card);
  const decided = new DecidedFacts();
  for await (const page of decidedBatches(session, since)) {
    for (const { policyId, partnerId, day, facts } of page) {
      const batch = counts.batch(cards.get(policyId) ?? card, partnerId, day);
      for (let position = decided.begin(facts) - 1; position >= 0; position -= 1) {
        const found = decided.read(position);
        if (found === 'read') batch.add(decided.facts, decided.decision);
        else if (found === 'damaged') batch.addDamaged();
      }
    }
  }
  return counts.report(await readPartnerNames(session, counts.partners));
}

/**
 * Tries a version, also a draft, and stores the result at the end: a run that is ended before leaves nothing. Throws
 * `OperatorError` where there is no such version.
 */
export async function tryVersion(
  context: OperatorContext,
  version: string,
  since: string | null,
): Promise<StoredReport> {
  const { card, content } = await findVersion(context, version);
  const began = context.clock.monotonicMs();
  const report = await backtest(context.database, card, since);
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

/** All stored results, the newest first. */
export function storedBacktests({ database }: OperatorContext): Promise<StoredReport[]> {
  return listBacktests(database);
}
