/**
 * One replay or backtest of a store, in a process of its own, so that its memory is that of the work: `node
 * bench/policy-trial.ts replay|backtest`, with the store in `DATABASE_URL`. Prints its figures as JSON.
 */
import { cardOfContent, documentOf } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { backtest } from '../src/subjects/evaluation/uses/backtest.ts';
import { replay } from '../src/subjects/evaluation/uses/replay.ts';

/** What a trial took. */
export interface Trial {
  readonly applications: number;
  readonly seconds: number;
  /** Of this process; PostgreSQL has its own. */
  readonly cpuSeconds: number;
  /** The highest resident memory. */
  readonly mib: number;
}

const STRICT = cardOfContent({
  ...documentOf(DEFAULT_POLICY),
  version: 'strict-1',
  decision: { approved: 80, in_review: 40 },
});

const database = openDatabase(
  { connectionString: process.env.DATABASE_URL ?? '' },
  { max: 2, onError: () => {}, clock: machineClock },
);
const [cpu, start] = [process.cpuUsage(), performance.now()];
const applications =
  process.argv[2] === 'replay' ? await replayed() : (await backtest(database, STRICT, null)).applications;
const { user, system } = process.cpuUsage(cpu);
const seconds = (performance.now() - start) / 1000;
await database.end();
const mib = process.resourceUsage().maxRSS / 1024;
console.log(
  JSON.stringify({ applications, seconds, cpuSeconds: (user + system) / 1e6, mib } satisfies Trial),
);

async function replayed(): Promise<number> {
  const { checked, equal } = await replay(database, null);
  if (equal !== checked) throw new Error(`${checked - equal} decisions came out otherwise`);
  return checked;
}
