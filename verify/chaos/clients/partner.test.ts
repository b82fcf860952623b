/** A partner of the chaos run: it repeats a batch until its end is known, and no batch that may be forgotten. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, mock, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { Random } from '../../../test/support/random.ts';
import { checkReplays } from '../../history/rules/replays.ts';
import { Gate } from '../gate.ts';
import { Promises } from '../promises.ts';
import { Recorder } from '../recorder.ts';
import { ApplicantMaker } from './applicants.ts';
import { PartnerClient } from './partner.ts';
import type { World } from './world.ts';

/** Each look at the time is this much later: a test of minutes takes no minutes. */
const STEP_MS = 60_000;

/** So many that a sample of them is sent again. */
const SOME = 200;
const REMEMBERED = 1_000;
const PARTNER = { id: 1, name: 'Acme', apiKey: 'key', cap: 10 };

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** The world of a client whose service gives these answers. */
async function worldOf(answer: Answer) {
  const server = createServer(async (request, response) => {
    // A client may leave at any time.
    const body = await text(request).catch(() => null);
    if (body !== null) answer(request, body, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const urls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  return { urls, recorder: new Recorder(), promises: new Promises(), gate: new Gate(), pauseMs: 0 };
}

const clientIn = (world: World) =>
  new PartnerClient(world, PARTNER, 'acme', new ApplicantMaker(), new Random(1));

test('a batch that is answered with 500 for ever breaks a promise, and the run goes on', async () => {
  const complaints = mock.method(console, 'error', () => {});
  after(() => complaints.mock.restore());
  let requests = 0;
  const world = await worldOf((_, _body, response) => {
    requests += 1;
    response.writeHead(500).end('{}');
  });
  const { recorder, promises } = world;
  let nowMs = 0;
  mock.method(recorder, 'nowMs', () => (nowMs += STEP_MS));
  await clientIn(world).stop();
  assert.ok(requests > 1, `${requests} requests`);
  assert.equal(recorder.batches.length, 1);
  const { broken } = promises.all.find(({ name }) => name === 'recovery')!;
  assert.match(broken.join(), /^\S+ a batch of Acme has no end after \d+ requests$/);
});

test('a batch that registered nothing is not sent again when it may be forgotten (D36)', async () => {
  const remembered = new Set<string>();
  let replays = 0;
  const world = await worldOf((request, body, response) => {
    const key = String(request.headers['idempotency-key']);
    const { applications } = JSON.parse(body) as { applications: { id_number: string }[] };
    const errors = applications.map(({ id_number }) => ({ id_number, error: 'quota_partner_exceeded' }));
    if (remembered.has(key)) {
      replays += 1;
      response.setHeader('Idempotency-Replayed', 'true');
    }
    remembered.add(key);
    response.end(JSON.stringify({ results: [], errors_detail: errors }));
  });
  const { batches } = world.recorder;
  const client = clientIn(world);
  await eventually('many batches', () => batches.length > SOME);
  await client.stop();
  replays = 0;
  await client.replay();
  assert.ok(replays > 0);

  // The newest thousand of the key are others.
  const { applications, calls } = batches.at(-1)!;
  const other = { partnerId: PARTNER.id, hasKey: true, isAllNew: false, applications, calls: [calls[0]!] };
  batches.push(...Array.from({ length: REMEMBERED }, () => other));
  remembered.clear();
  await client.replay();
  assert.deepEqual(checkReplays({ batches }), []);
  assert.equal(remembered.size, 0);
});
