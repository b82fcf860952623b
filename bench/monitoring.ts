/** Measures a scrape of a service with 500 partners, and `ventanilla status` beside it. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { type Bar, number } from './bars.ts';
import { median } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const NAME = 'monitoring';
const RUNS = 9;
/** Scrapes within two seconds share one. */
const APART_MS = 2_100;

/** 500 partners with three keys each, which were used in each second since the last upkeep, and an endpoint. */
const PARTNERS = `
  WITH partner AS (
    INSERT INTO partners (id, name, country) SELECT n, 'Many ' || n, 'CO' FROM generate_series(1000, 1499) AS n
    RETURNING id
  ), used AS (
    INSERT INTO usage_entries (partner_id, second, slot, count)
    SELECT id, date_trunc('second', now()) - s * interval '1 second', 0, 5 FROM partner, generate_series(0, 14) AS s
  ), told AS (
    INSERT INTO key_totals (api_key_id, registered, duplicate, over_quota, invalid, unauthorized)
    SELECT id * 10 + k, 5, 5, 5, 5, 5 FROM partner, generate_series(1, 3) AS k
  ), pushed AS (
    INSERT INTO partner_endpoints (partner_id, sealed, set_at) SELECT id, '', now() FROM partner
  ), keys AS (
    INSERT INTO api_keys (id, partner_id, pepper, digest, hint, daily_cap)
    SELECT id * 10 + k, id, '00000000-0000-0000-0000-000000000000',
      sha256(convert_to(id || ' ' || k, 'UTF8')), 'vtn', 100000 FROM partner, generate_series(1, 3) AS k
  )
  INSERT INTO usage_totals (partner_id, total, since) SELECT id, 5000, now() - interval '24 hours' FROM partner`;

/** 100,000 open conversations, of which an operator holds a hundredth, and twice as many that have ended. */
const CONVERSATIONS = `
  INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, place, held_by, state, waits_since,
    ended_at)
  SELECT n, 1000 + n % 500, n, 'in_review', 5, (ARRAY['data_consent', 'earnings', 'checking', 'contract'])[1 + n % 4],
    CASE WHEN n % 100 = 0 THEN 'operator' ELSE 'service' END,
    jsonb_build_object('handedOver', 'asked', 'rest', repeat('x', 500)), CASE WHEN n % 100 = 0 THEN now() END,
    CASE WHEN n > 100000 THEN now() END
  FROM generate_series(1, 300000) AS n`;
/** The upkeep folds the counts every 15 seconds. */
const FOLDED_MS = 20_000;

/** Measures unless `only` names something else, prints the figures, and returns the bars. */
export async function benchMonitoring({ only }: { only: string }): Promise<Bar[]> {
  const figures = NAME.includes(only) ? await measureMonitoring() : null;
  return [
    {
      name: `${NAME}: a scrape, 500 partners, 100,000 open conversations`,
      figure: figures?.scrapeMs ?? null,
      direction: 'at most',
      bound: 50,
      unit: 'ms',
    },
    {
      name: `${NAME}: status, whole command`,
      figure: figures?.statusMs ?? null,
      direction: 'at most',
      bound: 300,
      unit: 'ms',
    },
  ];
}

async function measureMonitoring() {
  const port = await freePort();
  const service = await startServiceProcess({ METRICS_PORT: String(port) });
  const figures = await measureStore(service, `http://127.0.0.1:${port}/metrics`);
  await service.stop();
  return figures;
}

/** The medians, of a store that a service runs on. */
async function measureStore({ admin, dataDir, remac }: ServiceProcess, url: string) {
  await admin.query(PARTNERS);
  await remac();
  await admin.query(CONVERSATIONS);
  await admin.query('ANALYZE');
  await sleep(FOLDED_MS);
  const scrapes = await scrapeTimes(url, RUNS);
  const commands: number[] = [];
  for (let run = 0; run < RUNS; run += 1) commands.push(await statusMs(dataDir));
  console.log(`\n${NAME}: scrapes ${list(scrapes)} ms, status ${list(commands)} ms`);
  return { scrapeMs: median(scrapes), statusMs: median(commands) };
}

/** The times of so many scrapes of `url`, in milliseconds. Each one reads the store. */
export async function scrapeTimes(url: string, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    await sleep(APART_MS);
    const begunMs = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - begunMs);
  }
  return times;
}

async function statusMs(dataDir: string): Promise<number> {
  const env = { ...process.env, DATA_DIR: dataDir, DELIVERY: 'off' };
  const begunMs = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, ['src/start.js', 'status', '--json'], {
    env,
  }).catch((error) => error);
  const tookMs = performance.now() - begunMs;
  // It is not well, as nobody delivers; it must have read everything all the same.
  JSON.parse(stdout);
  return tookMs;
}

function list(values: readonly number[]): string {
  return values
    .toSorted((a, b) => a - b)
    .map((value) => number(value))
    .join(' ');
}
