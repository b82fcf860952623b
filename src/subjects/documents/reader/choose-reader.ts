/** Whether this machine can shut a reader in, and what is read where it cannot. */
import type { Clock } from '../../../ground/base/clock.ts';
import { exposed, isolated, type ReaderCommand, readerProgram } from './isolation.ts';
import { isFailing, processReader } from './reader.ts';

/**
 * `isolated`: documents are read only where the reader is shut in. `exposed`: elsewhere too, by the operator's word.
 * `demonstration`: as `exposed`, because nobody but the person at this machine sends files.
 */
export type ReaderRisk = 'isolated' | 'exposed' | 'demonstration';

/** A machine that was set up anew since is tried again. */
const TRY_AGAIN_MS = 60_000;

let commands: { readonly shut: ReaderCommand; readonly open: ReaderCommand } | undefined;
let trial: { readonly fails: Promise<boolean>; readonly atMs: number } | undefined;

/**
 * How a reader is started here; null: not at all. The first call of a process tries it out. A trial that is late says
 * nothing of the machine, only that it is busy: then the reader is started shut in, and cannot do harm.
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
