/**
 * `npm run bench:reseal`: a service registers batches of 100 under full load, alone and in turn with a reseal of its
 * store. Prints the share of the registrations that is left, and how many applications were sealed again meanwhile. The
 * exit code is 1 where a bar is missed. `--seconds N` a phase, `--rounds N`, `--stored N` applications, `--size N` of a
 * stored batch.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { Vault } from '../src/seal/vault.ts';
import { readDataKeys, readKey } from '../src/seal/written-keys.ts';
import { sealEnvelope } from '../src/subjects/applications/sql/envelope.ts';
import { applicant } from './applicants.ts';
import { judge, number } from './bars.ts';
import { CostMeter } from './costs.ts';
import { numberOption, readOptions } from './options.ts';
import { type Measured, median, worker } from './phase.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  seconds: { default: '30', about: 'seconds of a phase; the upkeep, which reseals, begins every 15' },
  rounds: { default: '2', about: 'interleaved rounds' },
  stored: { default: '2000000', about: 'applications in the store' },
  size: { default: '100', about: 'applications of a stored batch' },
});
const seconds = numberOption('seconds', options.seconds, 1);
const rounds = numberOption('rounds', options.rounds, 1);
const stored = numberOption('stored', options.stored, 100);
const size = numberOption('size', options.size, 1);

const key = () => randomBytes(32).toString('base64');
const [old, next, indexKey, pepper] = [key(), key(), key(), key()];
const service = await startServiceProcess({
  DATA_KEYS: `2:${next},1:${old}`,
  INDEX_KEY: indexKey,
  API_KEY_PEPPER: pepper,
});
const loader = worker<object, Measured>('./load.ts');
const figures = { alone: [] as number[], beside: [] as number[], resealed: [] as number[] };
try {
  await fill();
  let stream = 1;
  const { url, apiKey } = service;
  const load = async () =>
    (await loader.run({ url, apiKey, concurrency: 16, size: 100, ms: seconds * 1_000, stream: stream++ }))
      .applicationsPerSecond;
  await tellCosts();
  await load();
  for (let round = 0; round < rounds; round += 1) {
    figures.alone.push(await load());
    const before = await begin();
    figures.beside.push(await load());
    figures.resealed.push((((await resealed()) - before) * size) / seconds);
    await end();
    await sleep(2_000);
  }
} finally {
  loader.stop();
  await service.stop();
}
for (const [name, values] of Object.entries(figures))
  console.log(`${name.padEnd(10)} ${values.map((value) => number(value)).join('  ')} applications/s`);
judge([
  {
    name: 'registrations beside a reseal, share of those alone',
    figure: median(figures.beside) / median(figures.alone),
    direction: 'at least',
    bound: 0.9,
  },
  {
    name: 'sealed again meanwhile',
    figure: median(figures.resealed),
    direction: 'at least',
    bound: 20_000,
    unit: 'applications/s',
  },
]);

/** Batches as they are stored, sealed with key 1, with random blind indexes. */
async function fill(): Promise<void> {
  const secrets = { indexKey: readKey(indexKey), apiKeyPepper: readKey(pepper) };
  const vault = new Vault({ ...secrets, dataKeys: readDataKeys([`1:${old}`]) });
  const some = Array.from({ length: size }, (_, position) => ({
    position,
    application: applicant(position),
  }));
  for (let left = Math.ceil(stored / size); left > 0; left -= 1_000) {
    const ids = Array.from({ length: Math.min(left, 1_000) }, () => uuidv7());
    await service.admin.query(
      `INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts,
        platforms, envelope)
      SELECT nextval('batch_numbers'), now(), g.id, 1, 1, 1, false, r.indexes, r.indexes,
        decode(repeat('00', 28 * $3), 'hex'), 'gig', g.envelope
      FROM unnest($1::uuid[], $2::bytea[]) AS g(id, envelope)
      CROSS JOIN LATERAL (SELECT array_agg(hashint8extended(n, hashtext(g.id::text))) AS indexes
        FROM generate_series(1, $3::integer) AS n) AS r`,
      [ids, ids.map((id) => sealEnvelope(vault, id, some)), size],
    );
  }
  // Without this the upkeep would do it meanwhile.
  await service.admin.query('SELECT close_segments(1048576)');
  await service.admin.query('UPDATE closed_segments SET closed_ms = closed_ms - 60000');
  while ((await service.admin.query('SELECT fill_look_up_buckets() AS filled')).rows[0].filled !== null);
  await service.admin.query('VACUUM ANALYZE batches');
  await service.admin.query('CHECKPOINT');
}

/** Goes on with the reseal. Resolves to how many values it has sealed so far. */
async function begin(): Promise<number> {
  await service.admin.query(
    `INSERT INTO reseals (key_id, kind, step_from, next_at, started_at) VALUES (2, 'envelopes', '', now(), now())
    ON CONFLICT (id) DO UPDATE SET finished_at = NULL`,
  );
  return resealed();
}

async function end(): Promise<void> {
  await service.admin.query('UPDATE reseals SET finished_at = now()');
}

/** Prints what an application costs that is sealed again while nothing else happens. */
async function tellCosts(): Promise<void> {
  const meter = await CostMeter.of(service);
  const reseal = async () => {
    const before = await begin();
    await sleep(seconds * 1_000);
    await end();
    return ((await resealed()) - before) * size;
  };
  const found = await meter?.during(reseal, (applications) => applications);
  if (found === undefined) return;
  const { serviceCpu, postgresCpu, wal } = found.costs;
  console.log(
    `sealed again alone: ${number(found.result / seconds)} applications/s; each takes ${number(serviceCpu, 1)} microseconds ` +
      `of CPU of the service, ${number(postgresCpu, 1)} of PostgreSQL and ${number(wal)} bytes of log`,
  );
}

async function resealed(): Promise<number> {
  return Number((await service.admin.query('SELECT resealed FROM reseals')).rows[0].resealed);
}
