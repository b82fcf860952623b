/** Traces of a service, as a collector gets them (docs/tracing.md). */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type CollectedSpan, type Collector, startCollector } from '../support/collector.ts';
import { anApplication } from '../support/service.ts';
import {
  addPartner,
  newDataDir,
  type Running,
  run,
  startService,
  submit,
  until,
  type Variables,
} from './support.ts';

/** The partner's own span. */
const TRACE = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const SPAN = 'bbbbbbbbbbbbbbbb';
const HEADERS = { traceparent: `00-${TRACE}-${SPAN}-01` };

const collectors: Collector[] = [];
after(() => Promise.all(collectors.map((collector) => collector.close())));

async function aCollector(): Promise<Collector> {
  const collector = await startCollector();
  collectors.push(collector);
  return collector;
}

function startWorker(dataDir: string, some: Variables): Running {
  return run(process.execPath, ['src/start.js', 'worker'], { DATA_DIR: dataDir, ...some });
}

const variables = ({ url }: Collector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
});
const link = ({ traceId, spanId }: CollectedSpan) => `${traceId}:${spanId}`;

/** Waits for spans with this name. */
function spansOf({ spans }: Collector, name: string, count = 1): Promise<CollectedSpan[]> {
  return until(`${count} spans ${name}`, () => {
    const found = spans.filter((span) => span.name === name);
    return found.length >= count ? found : undefined;
  });
}

describe('a traced service', () => {
  it('tells the way from the request to the statement to the message, and nothing personal', async () => {
    const collector = await aCollector();
    const dataDir = newDataDir();
    const apiKey = await addPartner(dataDir);
    const service = await startService(dataDir, { ...variables(collector), DELIVERY: 'on' });
    const applicant = anApplication({ name: 'Zenobia Quispe' });
    // The `tracestate` is text of the partner's, and may have anything.
    const headers = { ...HEADERS, tracestate: `partner=${applicant.phone}` };
    const answer = await submit(service, apiKey, [applicant], headers);
    assert.equal(answer.status, 200);

    const [request] = await spansOf(collector, 'POST /PRO');
    const [register] = await spansOf(collector, 'register');
    const [batch] = await spansOf(collector, 'batch');
    const [statement] = await spansOf(collector, 'register_batches');
    assert.ok(request && register && batch && statement);
    assert.equal(request.resource['service.name'], 'ventanilla');
    // The partner's span is a link: the partner does not decide what is traced.
    assert.deepEqual([request.parentId, request.links], ['', [`${TRACE}:${SPAN}`]]);
    assert.equal(request.attributes['http.response.status_code'], 200);
    assert.equal(request.attributes['ventanilla.applications'], 1);
    assert.equal(typeof request.attributes['ventanilla.partner_id'], 'number');
    assert.deepEqual([register.traceId, register.parentId], [request.traceId, request.spanId]);
    assert.deepEqual([statement.traceId, statement.parentId], [request.traceId, register.spanId]);
    assert.deepEqual([register.links, batch.links], [[link(batch)], [link(register)]]);
    assert.notEqual(batch.traceId, request.traceId);

    await service.stop();
    const line = service.out.split('\n').find((text) => text.includes('"route":"/PRO"'));
    assert.ok(line?.includes(`"trace_id":"${request.traceId}"`), line);

    const all = collector.received();
    for (const secret of [applicant.name, 'Zenobia', applicant.phone, applicant.id_number, apiKey]) {
      assert.ok(!all.includes(`${secret}`), 'a span holds something personal');
    }
  });

  it('shares a statement among the requests that it registers: part of one, linked with the others', async () => {
    const collector = await aCollector();
    const dataDir = newDataDir();
    const apiKey = await addPartner(dataDir);
    const service = await startService(dataDir, { ...variables(collector), DELIVERY: 'off' });
    const count = 60;
    await Promise.all(Array.from({ length: count }, () => submit(service, apiKey, [anApplication()])));
    await spansOf(collector, 'batch', count);
    await service.stop();
    const named = (name: string) => collector.spans.filter((span) => span.name === name);
    const statements = named('register_batches');
    assert.ok(statements.length < count, 'no statement registered several batches');
    const registers = new Map(named('register').map((span) => [link(span), span]));
    // A busy machine answers some with 500, and these are sent again.
    assert.ok(registers.size >= count);
    for (const statement of statements) {
      const parent = registers.get(`${statement.traceId}:${statement.parentId}`);
      assert.ok(parent, 'a statement is no part of a registration');
      for (const other of statement.links) {
        assert.ok(registers.get(other)?.links.includes(link(statement)), 'a link has no way back');
      }
    }
    const shared = statements.reduce((sum, { links }) => sum + 1 + links.length, 0);
    assert.equal(shared, registers.size);
  });

  it('sends a message in the trace of its batch, also from a worker', async () => {
    const collector = await aCollector();
    const dataDir = newDataDir();
    const apiKey = await addPartner(dataDir);
    const service = await startService(dataDir, { ...variables(collector), DELIVERY: 'off' });
    // Of a country whose contact window is always open.
    const answer = await submit(service, apiKey, [anApplication({ phone: '+525512345678' })]);
    assert.deepEqual([answer.status, answer.body.results.length], [200, 1]);
    const [batch] = await spansOf(collector, 'batch');
    const worker = startWorker(dataDir, { ...variables(collector), OTEL_SERVICE_NAME: 'the worker' });
    const [send] = await spansOf(collector, 'send');
    assert.ok(batch && send);
    assert.deepEqual([send.traceId, send.parentId], [batch.traceId, batch.spanId]);
    assert.equal(send.resource['service.name'], 'the worker');
    assert.equal(send.attributes['ventanilla.result'], 'accepted');
    assert.equal(send.attributes['ventanilla.attempt'], 1);
    process.kill(worker.pid, 'SIGTERM');
    assert.equal((await worker.exit).code, 0, worker.out);
    await service.stop();
    // The worker tells its part, and not the batch again.
    assert.equal(collector.spans.filter(({ name }) => name === 'batch').length, 1);
    assert.ok(!collector.received().includes('5512345678'), 'a span holds a phone');
  });

  it('goes on without a collector, and says so once', async () => {
    const collector = await aCollector();
    collector.answer(503);
    const dataDir = newDataDir();
    const apiKey = await addPartner(dataDir);
    const refused = { ...variables(collector), OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const service = await startService(dataDir, refused);
    for (let batch = 0; batch < 20; batch += 1) {
      assert.equal((await submit(service, apiKey, [anApplication()])).status, 200);
    }
    await until(
      'the line of the log',
      () => service.out.includes('the collector did not take spans') || undefined,
    );
    collector.answer(null);
    assert.equal((await submit(service, apiKey, [anApplication()])).status, 200);
    const { code, out } = await service.stop();
    assert.equal(code, 0, out);
    assert.equal(out.split('the collector did not take spans').length, 2, 'more than one line');
  });
});

describe('a service without tracing', () => {
  it('loads nothing of the SDK', async () => {
    const dataDir = newDataDir();
    const service = await startService(dataDir, { NODE_DEBUG: 'module', OTEL_SERVICE_NAME: 'x' });
    const { err } = await service.stop();
    const loaded = [...new Set(err.match(/node_modules.(@opentelemetry.)?[\w-]+/g))];
    assert.ok(loaded.some((name) => name.endsWith('fastify')));
    // The library of the metrics loads the API.
    const some = loaded.filter((name) => name.includes('opentelemetry') && !name.endsWith('api'));
    assert.deepEqual(some, []);
  });
});
