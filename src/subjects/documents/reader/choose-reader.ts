/**
 * Decides how the reader is started: isolated if this machine can do it, otherwise as the operator allows
 * (docs/documents.md, "The reader"). Starts a trial process.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import { exposed, isolated, type ReaderCommand, readerProgram } from './isolation.ts';
import { isFailing, processReader } from './reader.ts';

/**
 * `isolated`: documents are read only by an isolated reader. `exposed`: the operator allows a reader without isolation.
 * `demonstration`: as `exposed`, because only the person at this machine sends files.
 */
export type ReaderRisk = 'isolated' | 'exposed' | 'demonstration';

/** A failed trial is repeated after this time, because the machine may have been set up since. */
const TRY_AGAIN_MS = 60_000;

let commands: { readonly shut: ReaderCommand; readonly open: ReaderCommand } | undefined;
let trial: { readonly fails: Promise<boolean>; readonly atMs: number } | undefined;

/**
 * How a reader is started here; null: not at all. The first call of a process tries it out. A trial that is late says
 * nothing about the machine, only that it is busy: then the reader is started isolated, and can do no harm.
 */
export async function chooseReader(clock: Clock, risk: ReaderRisk): Promise<ReaderCommand | null> {
  commands ??= { shut: isolated(readerProgram()), open: exposed(readerProgram()) };
  const { shut, open } = commands;
  if (trial === undefined || ((await trial.fails) && clock.monotonicMs() - trial.atMs > TRY_AGAIN_MS)) {
    trial = { fails: isFailing(processReader(clock, async () => shut)), atMs: clock.monotonicMs() };
  }
  if (!(await trial.fails)) return shut;
  return risk === 'isolated' ? null : open;
}
