/** Tries a policy on stored applications (D51). Reads only. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { DecidedFacts } from '../../applications/sql/read-facts.ts';
import { Backtest, type BacktestReport } from '../rules/backtest-report.ts';
import { decidedBatches, readCards } from '../sql/decided-batches.ts';

/** Tries `card` on what was registered on or after the day `since`, `YYYY-MM-DD`; null: on everything. */
export async function backtest(session: Session, card: Card, since: string | null): Promise<BacktestReport> {
  const cards = await readCards(session);
  const counts = new Backtest(card);
  const decided = new DecidedFacts();
  for await (const page of decidedBatches(session, since)) {
    for (const { policyId, partnerId, day, facts } of page) {
      const batch = counts.batch(cards.get(policyId) ?? card, `${partnerId}`, day);
      for (let position = decided.begin(facts) - 1; position >= 0; position -= 1) {
        const found = decided.read(position);
        if (found === 'read') batch.add(decided.facts, decided.decision);
        else if (found === 'damaged') batch.addDamaged();
      }
    }
  }
  return counts.report();
}
