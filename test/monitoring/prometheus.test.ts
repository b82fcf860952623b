/**
 * deploy/monitoring with a real Prometheus: the rules pass promtool, every metric that the rules and the dashboard name
 * is in a scrape of a service under load, and every alert fires when what it is for happens.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { noteUpkeep } from '../../src/subjects/monitoring/sql/upkeep-jobs.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { whileLocked } from '../support/held-lock.ts';
import {
  LOOK_MS,
  MONITORING,
  type Prometheus,
  startPrometheus,
  withoutPrometheus,
} from '../support/prometheus.ts';
import { anApplication, post, testService } from '../support/service.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}
const read = (file: string) => readFileSync(join(MONITORING, file), 'utf8');
const RULES: readonly Rule[] = parse(read('rules.yaml')).groups[0].rules;
const EXPRESSIONS: readonly string[] = [
  ...RULES.map(({ expr }) => expr),
  ...JSON.parse(read('dashboard.json')).panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }: { expr: string }) => expr),
  ),
];
const NAMES = new Set(EXPRESSIONS.flatMap((text) => text.match(/\b(ventanilla|nodejs|process)_\w+/g) ?? []));
const LAST = 'VentanillaPartitionsShort';
/** So that a lock outlives the time limit of a statement, or does not. */
const STATEMENT_MS = 3_000;

/** A process of another version, with hardly any memory left: as a scrape of it looks. */
async function otherProcess(): Promise<string> {
  const text = [
    'ventanilla_build_info{version="9.9.9"} 1',
    'nodejs_heap_size_used_bytes 90',
    'ventanilla_heap_limit_bytes 100',
  ].join('\n');
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4').end(`${text}\n`);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  after(() => server.close());
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

const service = await testService(
  { METRICS_PORT: '0', CONSOLE_PORT: '0' },
  { upkeep: false, isPatient: false },
);
const { apiKey } = await service.addPartner();
const sql = (text: string) => service.database.query(text);
const send = (applications: number) =>
  post(`${service.url}/PRO`, apiKey, {
    applications: Array.from({ length: applications }, () => anApplication()),
  });

/** Prometheus on the service, on another process, and on one that is gone. */
async function prometheusOnAll(): Promise<Prometheus> {
  const capped = await service.addPartner({ dailyCap: 1 });
  await post(`${service.url}/PRO`, capped.apiKey, { applications: [anApplication()] });
  await noteUpkeep(service.database, [{ name: 'make partitions', tookMs: 1, succeeded: true, why: null }]);
  // The upkeep would compute them.
  await sql('UPDATE policy_drift SET activation_id = (SELECT activation_id FROM policy_live)');
  await sql("INSERT INTO policy_psi VALUES (0, 'debt_age', 0.05, 0.1)");
  await sql('INSERT INTO business_totals (partner_id, signed) SELECT min(p.id), 1 FROM partners p');
  await sql(
    `INSERT INTO business_waits (day, per, partner_id, step, bucket, times)
      VALUES ((now() AT TIME ZONE 'UTC')::date - 1, 'day', 1, 'sign', 40, 1)`,
  );
  await sql("INSERT INTO step_medians (step, bucket) VALUES ('sign', 40)");
  const address = /"url":"http:\/\/([^"]+)","msg":"the metrics listener/.exec(service.log.join(''))?.[1];
  assert.ok(address, 'METRICS_PORT opens a listener');
  assert.equal((await fetch(`${service.opsUrl}/metrics`)).status, 404);
  return startPrometheus([address, await otherProcess(), `127.0.0.1:${await freePort()}`]);
}

/** Tries links that nobody has: after fifty nobody looks at them any more. */
async function guessLinks(): Promise<void> {
  const console_ = /"url":"(http:\/\/[^"]+)","msg":"the console answers/.exec(service.log.join(''))?.[1];
  assert.ok(console_, 'CONSOLE_PORT opens a listener');
  for (let n = 0; n < 52; n += 1) {
    const answer = await fetch(`${console_}/api/enrolment/look`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: `guess-${n}` }),
    });
    await answer.body?.cancel();
  }
}

const prometheus = withoutPrometheus === false ? await prometheusOnAll() : null;

/** Slow batches, too much work, statements that fail, no free connection, and a process that is held up. */
async function passingTroubles(): Promise<void> {
  // What a service says of its key counts for a minute.
  await service.database.query(
    `INSERT INTO secret_checks (name, value, confirmed, seals_at, seals)
      SELECT 'DATA_KEYS ' || n, gen_random_uuid(), true, now(), 3600000000 FROM generate_series(8, 9) AS n
      ON CONFLICT (name) DO UPDATE SET seals_at = excluded.seals_at`,
  );
  // Batches wait for most of the time that a statement has: they are slow, and more of them are refused.
  await whileLocked(service.database, 'LOCK TABLE batches IN ACCESS EXCLUSIVE MODE', async () => {
    void Promise.all(Array.from({ length: 80 }, () => send(100).catch(() => {})));
    await sleep(STATEMENT_MS - 500);
  });
  // Statements fail for their time, others wait for a connection, and so does the scrape.
  await whileLocked(service.database, 'LOCK TABLE usage_totals IN ACCESS EXCLUSIVE MODE', async () => {
    // A session may hold its lock for ten seconds.
    const untilMs = performance.now() + 1.5 * STATEMENT_MS;
    const askAgain = async () => {
      while (performance.now() < untilMs) {
        await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } }).catch(() => {});
      }
    };
    void Promise.all(Array.from({ length: 25 }, askAgain));
    await sleep(2 * STATEMENT_MS);
  });
  for (let turn = 0; turn < 4; turn += 1) {
    const heldMs = performance.now() + 700;
    while (performance.now() < heldMs);
    await sleep(1);
  }
  await sleep(2 * LOOK_MS);
}

describe('deploy/monitoring', { skip: withoutPrometheus }, () => {
  const ask = prometheus as Prometheus;
  it('promtool accepts the rules and their unit tests, which test each alert twice', async () => {
    const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: MONITORING });
    await Promise.all([
      promtool('check', 'rules', 'rules.yaml'),
      promtool('test', 'rules', 'rules.test.yaml'),
    ]);
    const tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
      read('rules.test.yaml'),
    ).tests;
    const tested = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const { alert } of RULES) {
      const own = tested.filter(({ alertname }) => alertname === alert).map((one) => one.exp_alerts.length);
      assert.ok(own.includes(0) && own.some((alerts) => alerts > 0), alert);
    }
  });

  it('every metric that the rules and the dashboard name is scraped', async () => {
    for (let round = 0; round < 10; round += 1) await Promise.all([send(20), send(5)]);
    assert.ok(NAMES.size > 30, `found only ${NAMES.size} names`);
    await eventually('all metrics', async () => {
      const scraped = new Set(await ask.names());
      return [...NAMES].every((name) => scraped.has(name));
    }).catch(async (error) => {
      const scraped = new Set(await ask.names());
      assert.deepEqual(
        [...NAMES].filter((name) => !scraped.has(name)),
        [],
        error.message,
      );
    });
    for (const text of EXPRESSIONS) await ask.query(text.replaceAll('$__rate_interval', '1m'));
  });

  it('every alert fires when what it is for happens', async () => {
    await sql(
      "UPDATE sender SET broken_at = now(), broken_reason = 'x', paused_at = now(), paused_reason = 'x'",
    );
    await sql("INSERT INTO paused_templates (name, reason) VALUES ('offer', 'x')");
    await sql("UPDATE outbox SET created_at = created_at - interval '1 hour'");
    await sql("INSERT INTO waiting_messages VALUES ('uncertain', 1, now() - interval '2 hours', 1)");
    await sql(
      `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, status, attempts, due_at,
          created_at)
        VALUES (1, 1, 1, 1, '\\x01', now() + interval '1 day', 'sending', 1, now() + interval '1 day',
          now() - interval '3 minutes')`,
    );
    await sql(
      `INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, status, due_at, changed_at)
        VALUES (2, 1, 1, 1, '\\x01', now() + interval '1 day', 'uncertain', now(), now() - interval '20 minutes')`,
    );
    await sql(
      `INSERT INTO review_items (application_id, partner_id, created_at, due_at)
        VALUES (1, 1, now() - interval '26 hours', now() - interval '2 hours')`,
    );
    await sql(
      `INSERT INTO proposals (application_id, act, reason_code, reason, is_override, maker_id, decided_on, created_at,
          apply_at, needs_second)
        VALUES (1, 'approve', 'unspecified', 'x', false, 1, 0, now() - interval '2 days', now(), 'authority')`,
    );
    await sql(
      `INSERT INTO cases (kind, application_id, partner_id, due_at, window_until, seal_id, content)
        VALUES ('data', 1, 1, now() - interval '1 hour', now(), gen_random_uuid(), '\\x01')`,
    );
    await sql(
      `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, held_by, state, waits_since)
        VALUES (1, 1, 1, 'in_review', 1, 'operator', '{"handedOver": "failure"}', now() - interval '5 hours')`,
    );
    // No process here has its data key.
    await sql(
      `INSERT INTO conversation_inputs (conversation_id, application_id, source, seal_id, at, stored_at, settles_at, content)
        SELECT id, 1, 'person', gen_random_uuid(), now(), now() - interval '10 minutes', now(), '\\xee' FROM conversations`,
    );
    await sql(
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, reason, queued_at, due_at)
        VALUES (1, 1, 1, 'read_document', 'scanner', now() - interval '10 minutes', now() + interval '1 day')`,
    );
    await sql(
      `INSERT INTO loan_contracts (application_id, state, elapsed_ms, signed_at)
        VALUES (3, 'signed', 0, now() - interval '30 minutes')`,
    );
    await sql(
      `INSERT INTO documents (application_id, partner_id, purpose, state, file_key, missing_at)
        VALUES (1, 1, 'earnings', 'received', 'document-1', now())`,
    );
    await sql(
      `INSERT INTO documents (application_id, partner_id, purpose, state, reason)
        VALUES (3, 1, 'earnings', 'received', 'reader_off')`,
    );
    await sql(
      `INSERT INTO loan_contracts (application_id, state, reason, elapsed_ms) VALUES (1, 'blocked', 'no_terms', 0)`,
    );
    await sql(
      `INSERT INTO message_count_hours (hour, status, count, counted_at)
        SELECT date_trunc('hour', now()) - interval '1 hour', 'accepted', -30, now() - interval '1 hour'`,
    );
    await sql(
      `INSERT INTO upkeep_jobs (job, succeeded_at, took_ms) VALUES ('base backup', now() - interval '30 hours', 1)`,
    );
    await sql(
      `INSERT INTO upkeep_jobs (job, failed_at, took_ms) VALUES ('copy erasures', now() + interval '1 hour', 1)`,
    );
    await sql("UPDATE upkeep_jobs SET succeeded_at = succeeded_at - interval '1 hour'");
    await sql('UPDATE policy_psi SET psi = 0.5');
    await sql(
      `INSERT INTO upkeep_jobs (job, failed_at, took_ms) VALUES ('check the rows of API keys', now() + interval '1 hour', 1)
        ON CONFLICT (job) DO UPDATE SET failed_at = excluded.failed_at`,
    );
    await sql(
      `INSERT INTO upkeep_jobs (job, failed_at, took_ms) VALUES ('read the terms again', now() + interval '1 hour', 1)`,
    );
    await sql(
      `INSERT INTO partner_endpoints (partner_id, sealed, set_at, disabled_at, disabled_reason, broken_at) VALUES
          (91, '', now(), now(), 'gone', NULL), (92, '', now(), NULL, NULL, now()), (93, '', now(), NULL, NULL, NULL)`,
    );
    await sql(
      `INSERT INTO pushes (partner_id, number, application_id, queued_ms, set_at, due_at)
        SELECT id, 1, 1, elapsed_ms() - 7200000, now(), now() FROM unnest('{92,93}'::integer[]) AS id`,
    );
    await sql(
      `INSERT INTO key_outcomes (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized,
          remembered, forgotten, sweep_at) VALUES (date_trunc('hour', now()), 99, 0, 600, 0, 0, 0, 0, 0, now())`,
    );
    await sql(
      `INSERT INTO reseals (key_id, kind, step_from, next_at, started_at)
        VALUES (9, 'envelopes', '', now() - interval '1 hour', now())`,
    );
    const missing = async () => {
      const fired = await ask.fired();
      return RULES.map(({ alert }) => alert).filter((alert) => !fired.includes(alert));
    };
    // What passes may pass between two looks of a busy Prometheus, so it happens until each alert has fired.
    const giveUpMs = performance.now() + PATIENCE_MS;
    for (let left = await missing(); left.some((alert) => alert !== LAST); left = await missing()) {
      if (performance.now() > giveUpMs) break;
      // Their statements succeed, and would make those that fail a small share.
      if (left.some((alert) => alert.startsWith('VentanillaSignIns'))) await guessLinks();
      await passingTroubles();
    }
    // Registration needs its partition until now.
    await sql('UPDATE elapsed SET partitions_end = 1');
    await eventually(LAST, async () => (await missing()).length === 0).catch(() => {});
    assert.deepEqual(await missing(), []);
  });
});
