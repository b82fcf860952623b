/** No cache keeps an answer of the operators' listener, and no browser guesses its type (docs/front-door.md). */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { opsApi } from '../../src/http/ops-api.ts';
import { exchange, head } from './raw.ts';

const app = opsApi(async () => true);
app.get('/fails', async () => {
  throw new Error('on purpose');
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
after(() => app.close());

const REQUESTS: [what: string, request: string, status: number][] = [
  ['the process lives', head('GET', '/healthz'), 200],
  ['it is ready', head('GET', '/readyz'), 200],
  ['an unknown page', head('GET', '/nothing'), 404],
  ['a method that no page allows', head('DELETE', '/healthz', { 'Content-Length': 0 }), 404],
  ['a path with a broken escape', head('GET', '/%zz'), 404],
  ['a page that fails', head('GET', '/fails'), 500],
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['two hosts', head('GET', '/healthz', { host: 'other' }), 400],
];

for (const [what, request, status] of REQUESTS) {
  it(`${what}: the answer has the headers`, async () => {
    const { answers } = await exchange(url, [request]);
    assert.equal(answers[0]?.status, status);
    assert.equal(answers[0]?.headers['x-content-type-options'], 'nosniff');
    assert.equal(answers[0]?.headers['cache-control'], 'no-store');
  });
}
