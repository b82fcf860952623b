/** What a browser keeps of the console by `CONSOLE_URL`: the flags of the cookies, and that it asks by TLS alone. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Setting } from '../../src/ground/base/setting.ts';
import { cookieHeader } from '../../src/listeners/browser/cookie.ts';
import { consoleOrigin } from '../../src/subjects/operators/settings.ts';
import { PASSWORD, startTestConsole, Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';

const originOf = (url: string) =>
  consoleOrigin(
    <T>({ variable, read }: Setting<T>) =>
      read(variable === 'CONSOLE_URL' ? url : undefined, { dataDir: '/data', ownDatabase: false }),
    8082,
  );

const store = await testDatabase();

it('has __Host- and Secure on https, and neither on this machine; always HttpOnly and SameSite=Lax', () => {
  const flags = (url: string) => cookieHeader('session', 'x', { whose: 'operator', origin: originOf(url) });
  assert.equal(flags('https://desk.example'), '__Host-ventanilla=x; Path=/; HttpOnly; SameSite=Lax; Secure');
  assert.equal(flags('http://localhost:8082'), 'ventanilla=x; Path=/; HttpOnly; SameSite=Lax');
});

const DEVICE = /ventanilla-device=/;
const CONSOLES = [
  { origin: null, flags: /^ventanilla=[\w.-]*; Path=\/; HttpOnly; SameSite=Lax(; Max-Age=0)?$/ },
  {
    origin: 'https://desk.example',
    flags: /^__Host-ventanilla=[\w.-]*; Path=\/; HttpOnly; SameSite=Lax; Secure(; Max-Age=0)?$/,
  },
] as const;

for (const { origin, flags } of CONSOLES) {
  const login = origin === null ? 'here' : 'there';

  it(`so have those of a sign-in by password and code, at ${origin ?? 'this machine'}`, async () => {
    const desk = await startTestConsole(store, [], undefined, null, origin);
    const operator = await desk.enrolled(login, 'reviewer');
    const visitor = new Visitor(desk.url());
    const steps = [
      ['POST', '/api/session', { login, password: PASSWORD }],
      ['POST', '/api/session/totp', { code: await operator.nextCode() }],
      ['POST', '/api/session/again', { password: PASSWORD, code: await operator.nextCode() }],
      ['DELETE', '/api/session', undefined],
    ] as const;
    const devices: string[] = [];
    for (const [method, path, body] of steps) {
      const { status, headers } = await visitor.ask(method, path, body);
      assert.ok(status < 300, `${path} ${status}`);
      const set = headers.getSetCookie().filter((line) => !DEVICE.test(line));
      assert.equal(set.length, 1, path);
      assert.match(set[0]!, flags, path);
      devices.push(...headers.getSetCookie().filter((line) => DEVICE.test(line)));
    }
    // Once both factors are proved the browser knows the operator, also after the sign-out.
    assert.equal(devices.length, 1);
    const [before, after] = origin === null ? ['', ''] : ['__Host-', '; Secure'];
    const value = '[1-9]\\d*\\.\\d+\\.[\\w-]{22}';
    assert.match(
      devices[0]!,
      new RegExp(
        `^${before}ventanilla-device=${value}; Path=/; HttpOnly; SameSite=Lax${after}; Max-Age=7776000$`,
      ),
    );
  });
}

for (const { origin } of CONSOLES) {
  it(`every answer ${origin === null ? 'of this machine leaves' : 'of https takes'} plain HTTP ${origin === null ? 'open' : 'away'}`, async () => {
    const desk = await startTestConsole(store, [], undefined, null, origin);
    for (const [method, path, headers] of [
      ['GET', '/', {}],
      ['GET', '/api/session', {}],
      ['GET', '/api/nothing', {}],
      ['POST', '/api/session', { 'Content-Type': 'application/json' }],
      ['GET', '/api/session', { 'Sec-Fetch-Site': 'cross-site' }],
    ] as const) {
      const answer = await fetch(desk.url() + path, { method, headers });
      const expected = origin === null ? null : 'max-age=31536000';
      assert.equal(answer.headers.get('strict-transport-security'), expected, `${method} ${path}`);
    }
  });
}
