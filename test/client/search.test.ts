/** The client's search for the partner's own applications (D56). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AbortedError,
  type ApplicationState,
  ResponseError,
  VentanillaClient,
} from '../../client/src/index.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { anApplication, testService } from '../support/service.ts';
import { json, startPeer } from './peer.ts';
import { rejection } from './support.ts';

const bounded = { timeout: PATIENCE_MS };
const service = await testService();

async function all(found: AsyncIterable<ApplicationState>): Promise<ApplicationState[]> {
  const states: ApplicationState[] = [];
  for await (const state of found) states.push(state);
  return states;
}

it('applications() gives each own application once, page by page, in both languages', bounded, async () => {
  for (const language of LANGUAGES) {
    const { apiKey } = await service.addPartner({ language });
    const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
    const inputs = Array.from({ length: 5 }, () => anApplication({ id_number: '1.020.304' }));
    const outcomes = await client.submit(inputs as never);
    const ids = outcomes.map((outcome) => (outcome.kind === 'registered' ? outcome.id! : 0));
    const day = new Date().toISOString().slice(0, 10);
    for (const search of [{ idNumber: 'CC 1020304' }, { day }]) {
      const found = await all(client.applications(search, { pageSize: 2 }));
      assert.deepEqual(
        found.map(({ id }) => id),
        ids.toSorted((one, other) => other - one),
      );
      assert.deepEqual(found[0], await client.application(found[0]!.id));
    }
    const sandbox = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
    assert.deepEqual(await all(sandbox.applications({ day })), []);
  }
});

it(
  'a damaged application is named, an empty page is not the end, and the loop ends with the signal',
  bounded,
  async () => {
    const pages = [
      { applications: [], next: 'pag_1' },
      { applications: [], unreadable: [7], next: 'pag_2' },
      { applications: [], next: null },
    ];
    const peer = await startPeer('http://127.0.0.1:1', ({ number }) => json(200, pages[(number - 1) % 3]));
    const client = new VentanillaClient({ url: `${peer.url}/base/PRO`, apiKey: 'key' });
    const unreadable: number[] = [];
    const options = { pageSize: 9, onUnreadable: (id: number) => unreadable.push(id) };
    assert.deepEqual(await all(client.applications({ idNumber: '1' }, options)), []);
    assert.deepEqual(unreadable, [7]);
    assert.deepEqual(
      peer.seen.map(({ method, path, body }) => [method, path, JSON.parse(body)]),
      [null, 'pag_1', 'pag_2'].map((cursor) => [
        'POST',
        '/base/PRO/applications/search',
        { id_number: '1', limit: 9, cursor },
      ]),
    );
    assert.equal(peer.seen[0]?.headers['idempotency-key'], undefined);
    const stop = client.applications({ day: '2026-11-22' }, { signal: AbortSignal.abort() });
    await rejection(AbortedError, stop.next());
  },
);

it(
  'a page that never advances is an error, and a wrong argument is refused before anything is sent',
  bounded,
  async () => {
    const peer = await startPeer('http://127.0.0.1:1', () => json(200, { applications: [], next: 'same' }));
    const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey: 'key' });
    await rejection(ResponseError, all(client.applications({ day: '2026-11-22' })));
    const sent = peer.seen.length;
    for (const wrong of [{}, { day: '2026-11-22', idNumber: '1' }, { idNumber: 5 }])
      assert.throws(() => client.applications(wrong as never), TypeError);
    for (const pageSize of [0, 101, 1.5])
      assert.throws(() => client.applications({ day: '2026-11-22' }, { pageSize }), RangeError);
    assert.equal(peer.seen.length, sent);
  },
);
