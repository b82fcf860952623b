/** A partner of the chaos run repeats a batch until its end is known, and gives up where no end comes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, mock, test } from 'node:test';
import { Random } from '../../support/random.ts';
import { Gate } from '../gate.ts';
import { Promises } from '../promises.ts';
import { Recorder } from '../recorder.ts';
import { ApplicantMaker } from './applicants.ts';
import { PartnerClient } from './partner.ts';

/** Each look at the time is this much later: a test of minutes takes no minutes. */
const STEP_MS = 60_000;

let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  request.resume().once('end', () => response.writeHead(500).end('{}'));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());

test('a batch that is answered with 500 for ever breaks a promise, and the run goes on', async () => {
  const complaints = mock.method(console, 'error', () => {});
  after(() => complaints.mock.restore());
  const recorder = new Recorder();
  let nowMs = 0;
  mock.method(recorder, 'nowMs', () => (nowMs += STEP_MS));
  const promises = new Promises();
  const urls = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const world = { urls, recorder, promises, gate: new Gate(), pauseMs: 0 };
  const partner = { id: 1, name: 'Acme', apiKey: 'key', cap: 10 };
  const client = new PartnerClient(world, partner, 'acme', new ApplicantMaker(), new Random(1));
  await client.stop();
  assert.ok(requests > 1, `${requests} requests`);
  assert.equal(recorder.batches.length, 1);
  const { broken } = promises.all.find(({ name }) => name === 'recovery')!;
  assert.match(broken.join(), /^\S+ a batch of Acme has no end after \d+ requests$/);
});
