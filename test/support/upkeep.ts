/** The upkeep, turn by turn. */
import pino from 'pino';
import { loadJobs, upkeepTurn } from '../../src/app/background.ts';
import type { Setting } from '../../src/ground/base/setting.ts';
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
