/** What every client of a run needs. */
import type { Gate } from '../gate.ts';
import type { Promises } from '../promises.ts';
import type { Recorder } from '../recorder.ts';

/** A partner with its key. */
export interface PartnerKey {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
  readonly cap: number | null;
}

export interface World {
  /** The services, each by its own way. */
  readonly urls: readonly string[];
  readonly recorder: Recorder;
  readonly promises: Promises;
  readonly gate: Gate;
  /** The longest pause between two batches of a client. */
  readonly pauseMs: number;
}

/** D37 says 10 s from the first byte; the rest is for a busy machine and for the way. */
export const ANSWER_WITHIN_MS = 25_000;
