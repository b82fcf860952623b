/** What the phases of a run measured, round by round, and what is made of it. */
import { type Measured, median } from './phase.ts';

export class Figures {
  readonly #rounds = new Map<string, Measured[]>();

  add(phase: string, measured: Measured): void {
    this.#rounds.set(phase, [...(this.#rounds.get(phase) ?? []), measured]);
  }

  /** The median of the rounds; null where the phase was not measured. */
  median(phase: string, figure: keyof Measured): number | null {
    const rounds = this.#rounds.get(phase);
    return rounds === undefined ? null : median(rounds.map((round) => round[figure]));
  }

  /** The median of the rates of one phase over those of another, round by round; null where one was not measured. */
  ratio(over: string, under: string): number | null {
    const [overs, unders] = [this.#rounds.get(over), this.#rounds.get(under)];
    if (overs === undefined || unders === undefined) return null;
    return median(
      overs.map(
        (one, round) => one.applicationsPerSecond / (unders[round] as Measured).applicationsPerSecond,
      ),
    );
  }
}
