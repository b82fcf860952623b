/**
 * `npm run bench:policy`: the CPU of a decision with its reasons; then a replay and a backtest of `--stored N`
 * applications from PostgreSQL: applications a second, and the resident memory of the process. The exit code is 1 where
 * a bar is missed.
 */
import { toKeyId } from '../src/domain/partner/credential.ts';
import { cardOfContent, documentOf } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import type { Assessment } from '../src/domain/scorecard/scorecard.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { Vault } from '../src/seal/vault.ts';
import { prepareBatch } from '../src/subjects/applications/sql/prepared-batch.ts';
import { backtest } from '../src/subjects/evaluation/uses/backtest.ts';
import { replay } from '../src/subjects/evaluation/uses/replay.ts';
import { madeFacts, numbers } from '../test/evaluation/made-policies.ts';
import { applicant } from '../test/support/applicant.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { startServiceProcess } from './service-process.ts';

const values = readOptions({
  stored: { default: '1000000', about: 'applications in the store' },
  rounds: { default: '5', about: 'rounds of decisions' },
});
const stored = numberOption('stored', values.stored, 100);
const rounds = numberOption('rounds', values.rounds, 1);

const CARD = cardOfContent(DEFAULT_POLICY);
const STRICT = cardOfContent({
  ...documentOf(DEFAULT_POLICY),
  version: 'strict-1',
  decision: { approved: 80, in_review: 40 },
});
const next = numbers(34);
const APPLICATIONS = Array.from({ length: 20_000 }, () => madeFacts(next));

/** Microseconds of CPU of a decision with its reasons. */
function decisionMicroseconds(): number {
  const times = [];
  for (let round = -1; round < rounds; round += 1) {
    const start = process.cpuUsage();
    let reasons = 0;
    for (let n = 0; n < 50; n += 1)
      for (const facts of APPLICATIONS) reasons += (CARD.decide(facts) satisfies Assessment).reasons.length;
    const { user, system } = process.cpuUsage(start);
    if (reasons === 0) throw new Error('no decision had a reason');
    if (round >= 0) times.push((user + system) / (50 * APPLICATIONS.length));
  }
  return median(times);
}

/** 200 batches of 100, stored again and again under other numbers. */
const FILL = `
  INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts, platforms)
  SELECT nextval('batch_numbers'), now(), gen_random_uuid(), 1, 1, (SELECT policy_id FROM policy_live), false,
    array_fill(NULL::bigint, ARRAY[100]), array_fill(0::bigint, ARRAY[100]), f.facts, 'gig'
  FROM unnest($1::bytea[]) AS f(facts)`;

function factsOfBatches(): Buffer[] {
  const key = () => Buffer.alloc(32, 1);
  const vault = new Vault({ dataKeys: new Map([[1, key()]]), indexKey: key(), apiKeyPepper: key() });
  return Array.from({ length: 200 }, (_, batch) => {
    const candidates = APPLICATIONS.slice(batch * 100, batch * 100 + 100).map((facts, position) => ({
      position,
      application: applicant({ ...facts, phone: null }),
      assessment: CARD.decide(facts),
      messageType: null,
    }));
    return prepareBatch(vault, { keyId: toKeyId(1), policyId: 1 }, candidates, null).facts.bytes;
  });
}

/** Runs `work`, and tells its applications a second of this process's CPU and of the clock, and the highest memory. */
async function measured(work: () => Promise<number>) {
  let highest = process.memoryUsage.rss();
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 100);
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  const applications = await work();
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  const seconds = (performance.now() - start) / 1000;
  return {
    perCpuSecond: applications / ((user + system) / 1e6),
    perSecond: applications / seconds,
    mib: highest / 2 ** 20,
  };
}

const decision = decisionMicroseconds();
const service = await startServiceProcess({});
const database = openDatabase(
  { connectionString: service.connectionString },
  { max: 2, onError: () => {}, clock: machineClock },
);
try {
  const facts = factsOfBatches();
  for (let made = 0; made < stored; made += 20_000) await service.admin.query(FILL, [facts]);
  await service.admin.query('VACUUM ANALYZE batches');
  const replayed = await measured(async () => {
    const { checked, equal } = await replay(database, null);
    if (equal !== checked) throw new Error(`${checked - equal} decisions came out otherwise`);
    return checked;
  });
  const tried = await measured(async () => (await backtest(database, STRICT, null)).applications);
  for (const [name, { perSecond, perCpuSecond, mib }] of Object.entries({ replayed, tried }))
    console.log(
      `${name}: ${number(perSecond)} applications a second, ${number(perCpuSecond)} a second of its CPU, ${number(mib)} MiB at most`,
    );
  judge([
    {
      name: 'a decision with its reasons',
      figure: decision,
      direction: 'at most',
      bound: 0.3,
      unit: 'us of CPU',
    },
    {
      name: 'backtest',
      figure: tried.perSecond,
      direction: 'at least',
      bound: 1_000_000,
      unit: 'applications/s',
    },
  ]);
} finally {
  await database.end();
  await service.stop();
}
