/**
 * What goes wrong at the simulated channel, at random (docs/messages.md, "The simulator" has the table). Pure but for
 * the chance.
 */

/** Shares are from 0 to 1. */
export interface SimulatorFaults {
  /** The share of sends that are refused for now. */
  readonly failShare: number;
  /** The time that each answer takes, in milliseconds. */
  readonly delayMs: number;
  /** The share of accepted messages whose answer is lost. Their events still come. */
  readonly lostShare: number;
  /** The share of accepted messages that reach no phone and get no event. */
  readonly vanishedShare: number;
  /** The share of events that come twice. */
  readonly doubledShare: number;
  /** The share of events that later ones may overtake. */
  readonly reorderedShare: number;
  /** The share of persons' messages that the service never hears of. */
  readonly unheardShare: number;
  /** The share of fetches that do not find the file. */
  readonly goneShare: number;
}

/** No faults. */
export const NO_FAULTS: SimulatorFaults = {
  failShare: 0,
  delayMs: 0,
  lostShare: 0,
  vanishedShare: 0,
  doubledShare: 0,
  reorderedShare: 0,
  unheardShare: 0,
  goneShare: 0,
};
/** The longest `delayMs`. The delivery waits longer than that for an answer. */
export const MAX_DELAY_MS = 10_000;

/** Whether a fault of this share happens now. */
export function happens(share: number): boolean {
  return Math.random() < share;
}
