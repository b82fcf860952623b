/** The client's question for the state of an application (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestRefusedError, ResponseError, VentanillaClient } from '../../client/src/index.ts';
import { type Fate, json, startPeer } from './peer.ts';
import { rejection } from './support.ts';

const bounded = { timeout: 30_000 };
const NOWHERE = 'http://127.0.0.1:1';
const TIMES = { created_at: '2026-11-22T10:00:00.000+00:00', updated_at: '2026-11-22T11:00:00.000+00:00' };
const HEAD = { id: 346, score: 55 };
const ENGLISH = { ...HEAD, id_number: '1', decision: 'in_review', status: 'disbursed', ...TIMES };
const SPANISH = { ...HEAD, cedula: '1', decision: 'en_revision', estado: 'desembolsado', ...TIMES };
const STATE = {
  ...HEAD,
  idNumber: '1',
  decision: 'in_review',
  status: 'disbursed',
  createdAt: TIMES.created_at,
  updatedAt: TIMES.updated_at,
};

const at = (url: string) => new VentanillaClient({ url: `${url}/PRO`, apiKey: 'key', retries: 1 });

it('application() gives the state, from an answer in either language', bounded, async () => {
  const cases: [answer: object, expected: object][] = [
    [ENGLISH, STATE],
    [SPANISH, STATE],
    [
      { ...ENGLISH, id_number: null, more: true },
      { ...STATE, idNumber: null },
    ],
  ];
  for (const [answer, expected] of cases) {
    const peer = await startPeer(NOWHERE, () => json(200, answer));
    assert.deepEqual(await at(`${peer.url}/base`).application(346), expected);
    assert.equal(peer.seen[0]?.path, '/base/PRO/applications/346');
    assert.equal(peer.seen[0]?.headers['x-api-key'], 'key');
  }
});

it(
  'application() gives null where the service knows no such application, after faults too',
  bounded,
  async () => {
    const fates: Fate[] = [json(500, { error: 'x' }), json(404, { error: 'not found' })];
    const peer = await startPeer(NOWHERE, ({ number }) => fates[number - 1] ?? 'close');
    assert.equal(await at(peer.url).application(7), null);
    assert.equal(peer.seen.length, 2);
  },
);

it(
  'a 404 of another server is an error, and so is a state that the client cannot read',
  bounded,
  async () => {
    const proxy = await startPeer(NOWHERE, () => ({ status: 404, body: '<html>no such host' }));
    assert.equal((await rejection(RequestRefusedError, at(proxy.url).application(1))).status, 404);
    for (const wrong of [{ status: 'perhaps' }, { id: null }, { updated_at: undefined }]) {
      const peer = await startPeer(NOWHERE, () => json(200, { ...ENGLISH, ...wrong }));
      await rejection(ResponseError, at(peer.url).application(1));
    }
  },
);

it('a wrong id, and the sandbox, are refused before anything is sent', async () => {
  const peer = await startPeer(NOWHERE, () => 'close');
  const wrong: unknown[] = [0, -1, 1.5, '1', undefined, 2 ** 53];
  for (const id of wrong) await rejection(RangeError, at(peer.url).application(id as number));
  const sandbox = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey: 'key' });
  await rejection(TypeError, sandbox.application(1));
  assert.equal(peer.seen.length, 0);
});
