/** What WhatsApp's API says of the templates of an account (docs/brand.md, "At the channel"). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, it } from 'node:test';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { whatsappTemplates } from '../../../src/subjects/messages/channels/whatsapp-templates.ts';
import { TestClock } from '../../support/test-clock.ts';

type Answer = readonly [status: number, body: unknown];

const asked: { readonly url: URL; readonly token: string | undefined }[] = [];
let answer: (url: URL) => Answer | null = () => [200, { data: [] }];
const peer = http.createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://peer');
  asked.push({ url, token: request.headers.authorization });
  const made = answer(url);
  // null: it never answers.
  if (made === null) return;
  const [status, body] = made;
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
});
peer.listen(0, '127.0.0.1');
await once(peer, 'listening');
after(() => {
  peer.closeAllConnections();
  peer.close();
});
const apiUrl = `http://127.0.0.1:${(peer.address() as AddressInfo).port}/v25.0`;
const settings = { apiUrl, accountId: '77', accessToken: 'secret' };
const readOnce = () => whatsappTemplates(settings, machineClock)();

it('reads every page, and follows no address that the answer names', async () => {
  asked.length = 0;
  answer = ({ searchParams }) => {
    const page = Number(searchParams.get('after') ?? 0);
    const data = [{ name: `t_${page}`, language: 'es', status: 'APPROVED', id: '1' }];
    const next = { next: 'http://127.0.0.1:9/elsewhere', cursors: { after: `${page + 1}` } };
    return [200, { data, paging: page < 2 ? next : { cursors: { after: 'end' } } }];
  };
  const read = await readOnce();
  assert.deepEqual(read.kind === 'read' && read.templates.map(({ name }) => name), ['t_0', 't_1', 't_2']);
  assert.deepEqual(
    asked.map(({ url, token }) => [url.pathname, url.searchParams.get('fields'), token]),
    Array(3).fill(['/v25.0/77/message_templates', 'name,language,status', 'Bearer secret']),
  );
});

it('knows the statuses of the API, and leaves out what is no template', async () => {
  const STATUSES = {
    ...{ APPROVED: 'approved', PENDING: 'pending', IN_APPEAL: 'pending', REJECTED: 'rejected' },
    ...{ PAUSED: 'paused', DISABLED: 'disabled', PENDING_DELETION: 'disabled', NEW_ONE: 'unknown' },
    ...{ toString: 'unknown' },
  };
  const data = Object.keys(STATUSES).map((status) => ({ name: 'a', language: 'pt_BR', status }));
  const hostile = [
    null,
    'x',
    { name: '<b>', language: 'es' },
    { name: 'a', language: '../x' },
    { language: 'es' },
  ];
  answer = () => [200, { data: [...hostile, ...data] }];
  const read = await readOnce();
  assert.deepEqual(
    read.kind === 'read' && read.templates.map(({ status }) => status),
    Object.values(STATUSES),
  );
});

it('tells the code of a refusal, and nothing else of the answer', async () => {
  for (const [made, reason] of [
    [[401, { error: { code: 190, message: 'secret of Ana' } }], '190'],
    [[500, 'no JSON'], 'status_500'],
    [[200, { data: 'x' }], 'status_200'],
    [[302, ''], 'status_302'],
    [[200, `"${'x'.repeat(1_100_000)}"`], 'too_large'],
  ] as const) {
    answer = () => made;
    assert.deepEqual(await readOnce(), { kind: 'failed', reason });
  }
  answer = ({ searchParams }) => {
    const page = Number(searchParams.get('after') ?? 0);
    return [200, { data: [], paging: { next: 'x', cursors: { after: `${page + 1}` } } }];
  };
  assert.deepEqual(await readOnce(), { kind: 'failed', reason: 'too_many' });
});

it('asks at most once a minute, and people who ask at once share a reading', async () => {
  const clock = new TestClock();
  const read = whatsappTemplates(settings, clock);
  answer = () => [200, { data: [] }];
  asked.length = 0;
  await Promise.all([read(), read(), read()]);
  await clock.advance(59_999);
  await read();
  assert.equal(asked.length, 1);
  await clock.advance(1);
  await read();
  assert.equal(asked.length, 2);
});
