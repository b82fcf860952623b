/** Counts what another card makes of applications that are decided: the matrix of each day and partner (D51). Pure. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { CELLS, cellOf } from './backtest-report.ts';

/** The applications of a batch, by their position, as `DecidedFacts` reads them. */
export interface DecidedBatchFacts {
  readonly facts: DecisionFacts;
  readonly decision: Decision;
  read(position: number): 'read' | 'none' | 'damaged';
}

export class ShadowCount {
  readonly #card: Card;
  /** By partner, then by day. */
  readonly #partners = new Map<number, Map<string, number[]>>();
  damaged = 0;

  constructor(card: Card) {
    this.#card = card;
  }

  /** Adds a batch of so many positions. */
  add(decided: DecidedBatchFacts, positions: number, day: string, partnerId: number): void {
    const counts = this.#of(day, partnerId);
    // A loop of its own, because one that others share calls many functions at one place, which the engine makes slow.
    for (let position = positions - 1; position >= 0; position -= 1) {
      const found = decided.read(position);
      if (found === 'read') counts[cellOf(decided.decision, this.#card.decide(decided.facts).decision)]! += 1;
      else if (found === 'damaged') this.damaged += 1;
    }
  }

  #of(day: string, partnerId: number): number[] {
    let days = this.#partners.get(partnerId);
    if (days === undefined) {
      days = new Map();
      this.#partners.set(partnerId, days);
    }
    let counts = days.get(day);
    if (counts === undefined) {
      counts = Array(CELLS).fill(0);
      days.set(day, counts);
    }
    return counts;
  }

  /** The days and partners with applications, each with its matrix as a list. */
  get days() {
    return [...this.#partners].flatMap(([partner_id, days]) =>
      [...days]
        .filter(([, counts]) => counts.some((count) => count > 0))
        .map(([day, counts]) => ({ day, partner_id, counts })),
    );
  }
}
