/** Counts what another card makes of applications that are decided: the matrix of each day and partner (D51). Pure. */
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Decision, DecisionFacts } from '../../../domain/scorecard/scorecard.ts';
import { CELLS, cellOf } from './backtest-report.ts';

/** Adds the applications of a batch. */
export interface BatchCount {
  add(facts: DecisionFacts, before: Decision): void;
  addDamaged(): void;
}

export class ShadowCount {
  readonly #card: Card;
  readonly #days = new Map<string, { day: string; partner_id: number; counts: number[] }>();
  damaged = 0;

  constructor(card: Card) {
    this.#card = card;
  }

  batch(day: string, partnerId: number): BatchCount {
    const key = `${day} ${partnerId}`;
    let entry = this.#days.get(key);
    if (entry === undefined) {
      entry = { day, partner_id: partnerId, counts: Array(CELLS).fill(0) };
      this.#days.set(key, entry);
    }
    const { counts } = entry;
    return {
      add: (facts, before) => {
        counts[cellOf(before, this.#card.decide(facts).decision)]! += 1;
      },
      addDamaged: () => {
        this.damaged += 1;
      },
    };
  }

  /** The days and partners with applications, each with its matrix as a list. */
  get days() {
    return [...this.#days.values()].filter(({ counts }) => counts.some((count) => count > 0));
  }
}
