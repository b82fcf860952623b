/**
 * `npm run bench:shadows`: what two shadows and the drift cost, while more comes in than a turn of the upkeep counts.
 * `--stored N` applications in batches of `--size N`. Prints the CPU of an application, and the CPU of a turn as a
 * share of a core. The exit code is 1 where a bar is missed.
 */
import { toKeyId } from '../src/domain/partner/credential.ts';
import { cardOfContent } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { Vault } from '../src/seal/vault.ts';
import { prepareBatch } from '../src/subjects/applications/sql/prepared-batch.ts';
import { countDecisions } from '../src/subjects/evaluation/service.ts';
import { madeFacts, numbers } from '../test/evaluation/made-policies.ts';
import { applicant } from '../test/support/applicant.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { parentOf, serverCpuMs } from './processes.ts';
import { startServiceProcess } from './service-process.ts';

const values = readOptions({
  stored: { default: '2000000', about: 'applications that come in' },
  size: { default: '100', about: 'applications of a batch' },
});
const stored = numberOption('stored', values.stored, 20_000);
const size = numberOption('size', values.size, 1);
/** The upkeep begins a turn so often. */
const EVERY_MS = 15_000;
const PART = 20_000;

const START = `
  INSERT INTO policy_shadows (version, content, constants, sha256, policy_id, activation_id, actor, ends_at, next_batch)
  SELECT 'strict-' || n, jsonb_set(p.content, '{version}', to_jsonb('strict-' || n)), p.constants,
    decode(lpad(n::text, 2, '0'), 'hex'), l.policy_id, l.activation_id, 'bench', now() + interval '1 day',
    (SELECT t.last + 1 FROM numbers_taken() AS t)
  FROM generate_series(1, 2) AS n CROSS JOIN policy_live l JOIN policies p ON p.id = l.policy_id`;
/** The batches of four partners, stored again and again under other numbers. */
const FILL = `
  INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts, platforms)
  SELECT nextval('batch_numbers'), now(), gen_random_uuid(), 1 + f.n % 4, 1, (SELECT policy_id FROM policy_live), false,
    array_fill(NULL::bigint, ARRAY[$2::integer]), array_fill(0::bigint, ARRAY[$2]), f.facts, 'gig'
  FROM unnest($1::bytea[]) WITH ORDINALITY AS f(facts, n)`;
const LEFT = `
  SELECT t.last >= least(d.next_batch, min(s.next_batch)) AS some
  FROM policy_drift d CROSS JOIN policy_shadows s CROSS JOIN numbers_taken() AS t GROUP BY t.last, d.next_batch`;

function factsOfBatches(): Buffer[] {
  const card = cardOfContent(DEFAULT_POLICY);
  const next = numbers(34);
  const key = () => Buffer.alloc(32, 1);
  const vault = new Vault({ dataKeys: new Map([[1, key()]]), indexKey: key(), apiKeyPepper: key() });
  return Array.from({ length: PART / size }, () => {
    const candidates = Array.from({ length: size }, (_, position) => {
      const facts = madeFacts(next);
      const application = applicant({ ...facts, phone: null });
      return { position, application, assessment: card.decide(facts), messageType: null };
    });
    return prepareBatch(vault, { keyId: toKeyId(1), policyId: 1 }, candidates, null).facts.bytes;
  });
}

const service = await startServiceProcess();
// Its own upkeep would count as well.
process.kill(service.pid, 'SIGSTOP');
const database = openDatabase(
  { connectionString: service.connectionString },
  { max: 4, onError: () => {}, clock: machineClock },
);
try {
  const key = () => Buffer.alloc(32, 1);
  const vault = new Vault({ dataKeys: new Map([[1, key()]]), indexKey: key(), apiKeyPepper: key() });
  const count = () =>
    countDecisions({ database, vault, clock: machineClock }, (work, error) => {
      throw new Error(work, { cause: error });
    });
  await count();
  await service.admin.query(START);
  const facts = factsOfBatches();
  for (let made = 0; made < stored; made += PART) await service.admin.query(FILL, [facts, size]);
  const { rows } = await service.admin.query('SELECT pg_backend_pid() AS pid');
  const postmaster = parentOf(rows[0].pid);
  const turns: { cpuMs: number; wallMs: number }[] = [];
  const [own, server] = [process.cpuUsage(), serverCpuMs(postmaster)];
  for (let left = true; left; ) {
    const [before, start] = [process.cpuUsage(), performance.now()];
    await count();
    const { user, system } = process.cpuUsage(before);
    turns.push({ cpuMs: (user + system) / 1000, wallMs: performance.now() - start });
    left = (await service.admin.query(LEFT)).rows[0].some;
  }
  const { user, system } = process.cpuUsage(own);
  const [ownUs, serverUs] = [(user + system) / stored, ((serverCpuMs(postmaster) - server) * 1000) / stored];
  const perTurn = stored / turns.length;
  // The clock of PostgreSQL's CPU is too coarse for one turn.
  const turnMs = median(turns.map(({ cpuMs }) => cpuMs)) + (serverUs * perTurn) / 1000;
  console.log(
    `an application costs ${number(ownUs, 2)} us of CPU of the process and ${number(serverUs, 2)} us of PostgreSQL; ` +
      `a turn counts ${number(perTurn)}, and takes ${number(median(turns.map(({ wallMs }) => wallMs)))} ms`,
  );
  judge([
    {
      name: 'of a core, for the process and PostgreSQL together',
      figure: (100 * turnMs) / EVERY_MS,
      direction: 'at most',
      bound: 1,
      unit: '%',
    },
  ]);
} finally {
  process.kill(service.pid, 'SIGCONT');
  await database.end();
  await service.stop();
}
