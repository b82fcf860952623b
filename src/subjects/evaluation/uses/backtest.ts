/** Tries a policy on stored applications (D51). Reads only. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { decidedAt, positionsIn } from '../../applications/sql/read-facts.ts';
import { Backtest, type BacktestReport } from '../rules/backtest-report.ts';
import { decidedBatches, readCards } from '../sql/decided-batches.ts';

/** Tries `card` on what was registered on or after the day `since`, `YYYY-MM-DD`; null: on everything. */
export async function backtest(session: Session, card: Card, since: string | null): Promise<BacktestReport> {
  const cards = await readCards(session);
  const counts = new Backtest(card);
  for await (const page of decidedBatches(session, since)) {
    for (const { policyId, partnerId, day, facts } of page) {
      const decidedBy = cards.get(policyId) ?? card;
      const partner = `${partnerId}`;
      for (let position = positionsIn(facts) - 1; position >= 0; position -= 1) {
        const decided = decidedAt(facts, position);
        if (decided === 'damaged') counts.addDamaged();
        else if (decided !== null) counts.add(decided.facts, decided.decision, decidedBy, partner, day);
      }
    }
  }
  return counts.report();
}
