/** The figures of a run's phases, round by round, and their medians. */
import { median } from './phase.ts';
import type { PhaseFigures } from './stage.ts';

export class Figures {
  readonly #rounds = new Map<string, PhaseFigures[]>();

  add(phase: string, measured: PhaseFigures): void {
    this.#rounds.set(phase, [...(this.#rounds.get(phase) ?? []), measured]);
  }

  /** The median of the rounds; null where the figure was not measured. */
  median(phase: string, figure: keyof PhaseFigures): number | null {
    const values = this.#rounds.get(phase)?.map((round) => round[figure]);
    return values === undefined || values.includes(undefined) ? null : median(values as number[]);
  }

  /** The median over the rounds of the ratio of two phases' rates; null where one was not measured. */
  ratio(over: string, under: string): number | null {
    const [overs, unders] = [this.#rounds.get(over), this.#rounds.get(under)];
    if (overs === undefined || unders === undefined) return null;
    return median(
      overs.map(
        (one, round) => one.applicationsPerSecond / (unders[round] as PhaseFigures).applicationsPerSecond,
      ),
    );
  }
}
