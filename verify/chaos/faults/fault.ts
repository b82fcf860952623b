/** What a fault is, and what it works on. */
import type { Random } from '../../../test/support/random.ts';
import type { PartnerKey } from '../clients/world.ts';
import type { Gate } from '../gate.ts';
import type { Promises } from '../promises.ts';
import type { Recorder } from '../recorder.ts';
import type { Stage } from '../stage.ts';

/** What the numbers of a run count. */
export type Counted =
  | 'kills of a program'
  | 'kills of PostgreSQL'
  | 'failovers'
  | 'restores'
  | 'steps of the clock';

export interface Scene {
  readonly stage: Stage;
  readonly promises: Promises;
  readonly recorder: Recorder;
  readonly gate: Gate;
  /** The partner whose key the floods use. */
  readonly flood: PartnerKey;
  readonly counts: Map<Counted, number>;
  /** Does work while no program is killed, stopped or started. */
  readonly quietly: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface Fault {
  /** Words that follow "at 12 s:". */
  readonly name: string;
  /** How many cards of a pack it has. */
  readonly cards: number;
  /** Absent: on every machine and stage. */
  readonly isPossible?: (stage: Stage) => boolean;
  /** When it resolves, the fault is over and everything is started again. */
  readonly run: (scene: Scene, random: Random) => Promise<void>;
}

export function count({ counts }: Scene, what: Counted): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
