/** A console that listens, and operators who sign in to it. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { Secret, TOTP } from 'otpauth';
import type { Authority, Role } from '../../src/domain/operator/authority.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BROWSER_LIMITS, browserApi } from '../../src/listeners/browser/browser-api.ts';
import type { Page } from '../../src/listeners/browser/page.ts';
import { accountRoutes } from '../../src/subjects/operators/routes/accounts.ts';
import type { OidcConfig } from '../../src/subjects/operators/settings.ts';
import { enrol, lockAccount, setFactors, takeStep } from '../../src/subjects/operators/sql/factors.ts';
import { startSession } from '../../src/subjects/operators/sql/sessions.ts';
import { addOperator } from '../../src/subjects/operators/uses/manage.ts';
import { newRecoveryCodes, newSession, recoveryDigest } from '../../src/subjects/operators/uses/tokens.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import type { TestDatabase } from './database.ts';
import { patientClock } from './eventually.ts';
import { patient } from './patient.ts';

export const PASSWORD = 'seven wet umbrellas';
/** Argon2id with the least memory and passes: a hash with the service's own takes a sixth of a second. */
const HASH = '$argon2id$v=19$m=8,t=1,p=1$YSBzYWx0IG9mIHRlc3RzLg$0+UVTxg1RqCbYSRiNUvI4rak2kMNJIKdhc4VgBB2wAY';
/** A code's time. */
const STEP_MS = 30_000;

/** What a browser does at the console. */
export class Visitor {
  readonly #url: string;
  cookie: string | null = null;
  /** The cookie by which a browser knows operators. */
  device: string | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** Sends a request with the visitor's cookies, and keeps those that come back. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const cookies = [this.cookie, this.device].filter((one) => one !== null);
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [pair] = set.split(';', 1);
      this[pair!.includes('-device=') ? 'device' : 'cookie'] = pair!;
    }
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  }
}

interface Response {
  readonly headers?: object;
  readonly content?: { readonly 'application/json'?: { readonly schema: { readonly properties?: Json } } };
}

type Json = { readonly [name: string]: { readonly enum?: readonly string[] } };

interface Operation {
  readonly responses: { readonly [status: string]: Response | undefined };
  readonly 'x-needs-fresh-sign-in'?: true;
}

/** What proves both factors again asks for them again where they were wrong. */
const PROVES_AGAIN = /^\/api\/session\/again/;

/**
 * Collects what answers have and the document does not tell of: the status, the tag, the code of a 409, the need of a
 * new sign-in.
 */
export function watchAnswers(app: FastifyInstance, undocumented: Set<string>): void {
  let paths: Record<string, Record<string, Operation>> | null = null;
  app.addHook('onSend', async ({ method, routeOptions: { url = '' } }, reply, payload) => {
    if (url.startsWith('/api/openapi')) return;
    paths ??= (await app.inject({ url: '/api/openapi.json' })).json().paths as NonNullable<typeof paths>;
    const operation = paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    if (operation === undefined) return;
    const told = operation.responses[reply.statusCode];
    if (told === undefined) undocumented.add(`${method} ${url} ${reply.statusCode}`);
    else if (reply.hasHeader('ETag') !== (told.headers !== undefined))
      undocumented.add(`${method} ${url} ${reply.statusCode} ETag`);
    if (reply.statusCode === 409) {
      const { code } = JSON.parse(`${payload}`);
      const codes = told?.content?.['application/json']?.schema.properties?.code?.enum;
      if (!codes?.includes(code)) undocumented.add(`${method} ${url} 409 ${code}`);
    }
    const asksForSignIn = reply.statusCode === 403 && `${payload}`.includes('"needs":"sign-in"');
    if (asksForSignIn && operation['x-needs-fresh-sign-in'] !== true && !PROVES_AGAIN.test(url))
      undocumented.add(`${method} ${url} needs a new sign-in`);
  });
}

/** An operator with both factors. */
export interface Enrolled {
  readonly id: number;
  readonly login: string;
  readonly recoveryCodes: readonly string[];
  /** A code that was not taken yet, and that the service takes now. */
  nextCode(): Promise<string>;
  /** A browser that is signed in with both factors. */
  signIn(): Promise<Visitor>;
}

/** The token of a link, as the page reads it. */
export function tokenOf(link: string): string | null {
  return new URLSearchParams(new URL(link).hash.slice(1)).get('token');
}

/**
 * Starts a console with the routes of the accounts, and `more`; `page` is the built page: most tests need none. `oidc`
 * is the identity provider; `publicOrigin` the origin that `CONSOLE_URL` gives, else the listener's own; `proxies` are
 * those of `CONSOLE_TRUSTED_PROXIES`.
 */
export async function startTestConsole(
  { database, runtime, vault, clock }: TestDatabase,
  more: readonly Route[] = [],
  page: Promise<Page | null> = Promise.resolve(null),
  oidc: OidcConfig | null = null,
  publicOrigin: string | null = null,
  proxies: readonly string[] = [],
) {
  const failures: unknown[] = [];
  const tries: string[] = [];
  const logFailure = (_text: string, facts: object) => failures.push(facts);
  let url = '';
  const origin = () => publicOrigin ?? url;
  const accounts = await accountRoutes({
    ...{ database: runtime, vault, oidc, origin, logFailure },
    clock: clock === machineClock ? patientClock : clock,
    onTry: (step, result) => tries.push(`${step} ${result}`),
  });
  const api = {
    whose: 'operator' as const,
    database: runtime,
    vault,
    clock,
    routes: [...accounts, ...more],
    origin,
    page,
    logFailure,
    proxies,
  };
  // A password's hash takes long on a busy machine, and a test with several waits for each.
  const app = browserApi(api, patient(BROWSER_LIMITS));
  const undocumented = new Set<string>();
  watchAnswers(app, undocumented);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://localhost:${(app.server.address() as { port: number }).port}`;
  after(() => app.close());
  // Every test of a console compares what its routes answer with the document of the API.
  after(() => assert.deepEqual([...undocumented], [], 'answers that the document does not have'));

  const invite = async (login: string, role: Role, authority: Authority = new Map()) => {
    const { operator, token } = await addOperator({ database, vault }, { login, role, authority });
    return { id: operator.id, token };
  };
  /** Adds an operator with both factors, set without the console. */
  const enrolled = async (login: string, role: Role, authority?: Authority): Promise<Enrolled> => {
    const { id } = await invite(login, role, authority);
    return withFactors({ database, vault }, { id, login }, () => new Visitor(url));
  };
  return { url: () => url, tries, failures, invite, enrolled, visitor: () => new Visitor(url) };
}

/** Sets both factors of an account without its page; `visitor` is a browser that has the page open. */
export async function withFactors(
  { database, vault }: Pick<TestDatabase, 'database' | 'vault'>,
  { id, login }: Pick<Enrolled, 'id' | 'login'>,
  visitor: () => Visitor,
  cookieName = 'ventanilla',
): Promise<Enrolled> {
  const secret = new Secret({ size: 20 });
  const recoveryCodes = newRecoveryCodes();
  const account = (await lockAccount(database, vault, id))!;
  const factors = { password: HASH, totp: Buffer.from(secret.bytes) };
  await enrol(database, vault, await setFactors(database, vault, account, factors), {
    totpStep: 0,
    recoveryCodes: recoveryCodes.map((code) => recoveryDigest(code)!),
  });
  const totp = new TOTP({ secret });
  // Each code counts once, and one of the next step is taken too. For more of them the store forgets the last one.
  let at = 0;
  const nextCode = async () => {
    at = Math.max(at + STEP_MS, Date.now());
    if (at > Date.now() + STEP_MS) {
      await takeStep(database, vault, (await lockAccount(database, vault, id))!, 0);
      at = Date.now();
    }
    return totp.generate({ timestamp: at });
  };
  const signIn = async () => {
    const { cookie, key } = newSession();
    const account = (await lockAccount(database, vault, id))!;
    await startSession(database, vault, key, { account, isWhole: true });
    const signedIn = visitor();
    signedIn.cookie = `${cookieName}=${cookie}`;
    return signedIn;
  };
  return { id, login, recoveryCodes, nextCode, signIn };
}
