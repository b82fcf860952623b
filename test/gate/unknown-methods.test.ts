/** Methods that Node's HTTP parser refuses get the contract's answer too (contract, "Endpoints"; D1, D24). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testService } from '../support/service.ts';
import { exchange, head } from './raw.ts';

const service = await testService();
const based = await testService({ BASE_PATH: '/api/v1' });
const METHODS = ['FOO', 'get', 'Post', 'GETS', 'X-CUSTOM', 'CONNECT'];

async function ask(url: string, method: string, target: string, headers: Record<string, string> = {}) {
  const { answers, closed } = await exchange(url, [head(method, target, headers)]);
  const [answer] = answers;
  assert.ok(answer, `${method} ${target}: no answer`);
  return { ...answer, closed };
}

describe('D1: a method that the HTTP parser does not know', () => {
  it('gets 405 with Allow on /PRO and /DEV, with any headers and body', async () => {
    for (const method of METHODS) {
      for (const target of ['/PRO', '/DEV', '/PRO/', '/DEV?x=1']) {
        const answer = await ask(service.url, method, target, { 'X-API-Key': 'wrong' });
        assert.equal(answer.status, 405, `${method} ${target}`);
        assert.equal(answer.headers.allow, 'GET, POST');
        assert.equal(answer.headers['content-type'], 'application/json');
        assert.equal(answer.headers['cache-control'], 'no-store');
        assert.deepEqual(JSON.parse(answer.body), { error: 'method not allowed (only POST and GET)' });
      }
      assert.equal((await ask(based.url, method, '/api/v1/PRO')).status, 405, method);
    }
  });

  it('gets 404 on any other path', async () => {
    for (const method of METHODS) {
      for (const target of ['/', '/pro', '/PRO/x', 'host.example:443', '/%ZZ']) {
        const answer = await ask(service.url, method, target);
        assert.equal(answer.status, 404, `${method} ${target}`);
        assert.equal(answer.headers.allow, undefined);
        assert.deepEqual(JSON.parse(answer.body), { error: 'not found' });
      }
      assert.equal((await ask(based.url, method, '/PRO')).status, 404, method);
    }
  });

  it('D24: gets its text in the language that Accept-Language prefers', async () => {
    for (const method of METHODS) {
      const answer = await ask(service.url, method, '/PRO', { 'accept-language': 'es-CO,en;q=0.5' });
      assert.deepEqual(JSON.parse(answer.body), { error: 'método no permitido (solo POST y GET)' }, method);
    }
  });

  it('bytes that are no request line still get 400', async () => {
    for (const line of ['FOO', 'FOO /PRO', 'F{O /PRO HTTP/1.1', '\u0016\u0003\u0001', 'FOO /PRO HTTP/9']) {
      const { answers } = await exchange(service.url, [`${line}\r\nHost: x\r\n\r\n`]);
      assert.equal(answers[0]?.status, 400, line);
      assert.deepEqual(JSON.parse(answers[0]?.body ?? ''), { error: 'the request could not be read' });
    }
  });
});
