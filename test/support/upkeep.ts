/** The upkeep, turn by turn. */
import pino from 'pino';
import { loadJobs, upkeepTurn } from '../../src/app/background.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Setting } from '../../src/ground/base/setting.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import type { ServiceContext } from '../../src/program/subject/subject.ts';
import { NOBODY } from '../../src/program/subject/watcher.ts';
import { sessionsOf, type TestStore } from './database.ts';

/**
 * `turn` runs every job once, with these variables of the process, and resolves to the failures: the job and its error.
 */
export async function testUpkeep(
  { vault, clock, ...store }: TestStore,
  variables: Readonly<Record<string, string>> = {},
) {
  const jobs = await loadJobs(clock);
  const turn = async (): Promise<[work: string, error: unknown][]> => {
    const failures: [work: string, error: unknown][] = [];
    const context = {
      database: sessionsOf(store),
      vault,
      clock,
      log: pino({ level: 'silent' }),
      stopping: new AbortController().signal,
      failed: (work: string, error: unknown) => void failures.push([work, error]),
      watcher: NOBODY,
      setting: <T>({ variable, read }: Setting<T>) =>
        read(variables[variable], { dataDir: variables.DATA_DIR ?? '', ownDatabase: true }),
    };
    await upkeepTurn(jobs, context, 0);
    return failures;
  };
  return { turn };
}

/** Runs one job of the upkeep, that of a process that starts. */
export async function runJob(database: Database, name: string): Promise<void> {
  const job = (await loadJobs(machineClock)).find((one) => one.name === name);
  await job!.run({ database } as ServiceContext);
}
