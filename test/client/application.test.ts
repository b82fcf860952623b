/** The client's question for the state of an application (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestRefusedError, ResponseError, VentanillaClient } from '../../client/src/index.ts';
import { readState } from '../../client/src/read-answer.ts';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { APPLICATION_STATUSES } from '../../src/domain/application/lifecycle.ts';
import { ALL_REASON_CODES } from '../../src/domain/application/reason-codes.ts';
import { DECISIONS, LIMIT_CODES } from '../../src/domain/scorecard/scorecard.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { renderApplication } from '../../src/wire/contract/partner-reads.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { type Fate, json, startPeer } from './peer.ts';
import { rejection } from './support.ts';

const bounded = { timeout: PATIENCE_MS };
const NOWHERE = 'http://127.0.0.1:1';
const ENGLISH = {
  ...{ id: 346, id_number: '1', score: 55, decision: 'in_review', status: 'disbursed' },
  ...{ reason_code: null, signed_at: null, withdrawn_at: null },
  ...{ created_at: '2026-11-22T10:00:00.000+00:00', updated_at: '2026-11-22T11:00:00.000+00:00' },
};

const at = (url: string) => new VentanillaClient({ url: `${url}/PRO`, apiKey: 'key', retries: 1 });

it(
  'application() reads every state that the service renders, in both languages (D24, D25)',
  bounded,
  async () => {
    const createdAt = new Date('2026-11-22T10:00:00Z');
    const updatedAt = new Date('2026-11-22T11:00:00Z');
    const reasonCodes = ['amount_above_limit', 'a_new_reason'];
    const head = { id: toApplicationId(346), idNumber: '1', score: 55, reasonCodes };
    const [first, ...codes] = [null, ...LIMIT_CODES, ...ALL_REASON_CODES];
    const states = APPLICATION_STATUSES.flatMap((status) =>
      DECISIONS.map((decision) => ({ ...head, decision, status, reasonCode: first })),
    );
    const others = codes.map((reasonCode) => ({ ...states[0]!, idNumber: null, reasonCode }));
    const [signedAt, withdrawnAt] = [createdAt, updatedAt];
    for (const state of [...states, ...others]) {
      for (const language of LANGUAGES) {
        const answer = renderApplication(
          { ...state, ...{ createdAt, updatedAt, signedAt, withdrawnAt } },
          language,
        );
        const read = readState({ ...JSON.parse(answer), more: true });
        assert.deepEqual(read, {
          ...state,
          signedAt: '2026-11-22T10:00:00.000+00:00',
          withdrawnAt: '2026-11-22T11:00:00.000+00:00',
          createdAt: '2026-11-22T10:00:00.000+00:00',
          updatedAt: '2026-11-22T11:00:00.000+00:00',
        });
      }
    }
    const peer = await startPeer(NOWHERE, () => json(200, ENGLISH));
    assert.equal((await at(`${peer.url}/base`).application(346))?.status, 'disbursed');
    assert.equal(peer.seen[0]?.path, '/base/PRO/applications/346');
    assert.equal(peer.seen[0]?.headers['x-api-key'], 'key');
  },
);

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
    for (const wrong of [
      { status: 'perhaps' },
      { id: null },
      { updated_at: undefined },
      { signed_at: undefined },
    ]) {
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
