/**
 * `npm run bench:policy`: the CPU of a decision with its reasons; then a replay and a backtest of `--stored N`
 * applications from PostgreSQL, each in a process of its own: applications a second of its CPU and of the clock, and
 * its highest resident memory, with a tenth of the applications and with all. The exit code is 1 where a bar is
 * missed.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { toKeyId } from '../src/domain/partner/credential.ts';
import { cardOfContent } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import type { Assessment } from '../src/domain/scorecard/scorecard.ts';
import { Vault } from '../src/seal/vault.ts';
import { prepareBatch } from '../src/subjects/applications/sql/prepared-batch.ts';
import { madeFacts, numbers } from '../test/evaluation/made-policies.ts';
import { applicant } from '../test/support/applicant.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import type { Trial } from './policy-trial.ts';
import { startServiceProcess } from './service-process.ts';

const values = readOptions({
  stored: { default: '1000000', about: 'applications in the store' },
  rounds: { default: '5', about: 'rounds of decisions' },
});
const stored = numberOption('stored', values.stored, 100);
const rounds = numberOption('rounds', values.rounds, 1);

const CARD = cardOfContent(DEFAULT_POLICY);
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

/** Runs a trial of the store in a process of its own, and says what it took. */
async function trial(what: 'replay' | 'backtest'): Promise<Trial> {
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/policy-trial.ts', what], {
    env: { ...process.env, DATABASE_URL: service.connectionString },
  });
  const found = JSON.parse(stdout) as Trial;
  const { applications, seconds, cpuSeconds, mib } = found;
  console.log(
    `${what} of ${number(applications)}: ${number(applications / seconds)} applications a second, ${number(applications / cpuSeconds)} a second of its CPU, ${number(mib)} MiB at most`,
  );
  return found;
}

const decision = decisionMicroseconds();
const service = await startServiceProcess({});
try {
  const facts = factsOfBatches();
  const fill = async (from: number, to: number) => {
    for (let made = from; made < to; made += 20_000) await service.admin.query(FILL, [facts]);
    await service.admin.query('VACUUM ANALYZE batches');
  };
  await fill(0, stored / 10);
  const small = await trial('backtest');
  await fill(stored / 10, stored);
  await trial('replay');
  const { applications, cpuSeconds, mib } = await trial('backtest');
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
      figure: applications / cpuSeconds,
      direction: 'at least',
      bound: 1_000_000,
      unit: 'applications/s of CPU',
    },
    {
      name: 'memory of ten times as many',
      figure: mib - small.mib,
      direction: 'at most',
      bound: 20,
      unit: 'MiB more',
    },
  ]);
} finally {
  await service.stop();
}
