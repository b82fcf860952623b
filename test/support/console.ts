/** A console that listens, and operators who sign in to it. */
import { after } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { dropClaims } from '../../src/desk/routes/desk-routes.ts';
import { consoleApi } from '../../src/operator-api/console-api.ts';
import type { Page } from '../../src/operator-api/page.ts';
import type { Route } from '../../src/operator-api/route.ts';
import { accountRoutes } from '../../src/operators/routes/accounts.ts';
import type { Role } from '../../src/operators/rules/role.ts';
import type { OidcConfig } from '../../src/operators/settings.ts';
import { enrol, setFactors, setRecoveryCodes } from '../../src/operators/sql/factors.ts';
import { startSession } from '../../src/operators/sql/sessions.ts';
import { addOperator } from '../../src/operators/uses/manage.ts';
import { hashPassword } from '../../src/operators/uses/password-hash.ts';
import { newRecoveryCodes, newSession, recoveryDigest } from '../../src/operators/uses/tokens.ts';
import type { TestDatabase } from './database.ts';

export const PASSWORD = 'seven wet umbrellas';
/** A code's time. */
const STEP_MS = 30_000;

/** What a browser does at the console. */
export class Visitor {
  readonly #url: string;
  cookie: string | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** Sends a request with the visitor's cookie, and keeps the cookie that comes back. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(this.cookie !== null && { Cookie: this.cookie }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0]!;
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  }
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

/**
 * Starts a console with the routes of the accounts, and `more`; `page` is the built page: most tests need none. `oidc`
 * is the identity provider.
 */
export async function startTestConsole(
  { database, runtime, vault }: TestDatabase,
  more: readonly Route[] = [],
  page: Promise<Page | null> = Promise.resolve(null),
  oidc: OidcConfig | null = null,
) {
  const failures: unknown[] = [];
  const logFailure = (_text: string, facts: object) => failures.push(facts);
  let url = '';
  const origin = () => url;
  const accounts = await accountRoutes({
    ...{ database: runtime, vault, oidc, origin, logFailure },
    signedOut: (operatorId) => dropClaims(runtime, operatorId),
  });
  const app = consoleApi({
    database: runtime,
    routes: [...accounts, ...more],
    origin,
    page,
    logFailure,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://localhost:${(app.server.address() as { port: number }).port}`;
  after(() => app.close());

  const invite = async (login: string, role: Role) => {
    const { operator, token } = await addOperator({ database }, { login, role, authority: new Map() });
    return { id: operator.id, token };
  };
  let hash: Promise<string> | null = null;
  /** Adds an operator with both factors, set without the console: a hash takes long. */
  const enrolled = async (login: string, role: Role): Promise<Enrolled> => {
    const { id } = await invite(login, role);
    hash ??= hashPassword(PASSWORD);
    const secret = new Secret({ size: 20 });
    const recoveryCodes = newRecoveryCodes();
    await setFactors(database, vault, { id, password: await hash, totp: Buffer.from(secret.bytes) });
    await setRecoveryCodes(
      database,
      id,
      recoveryCodes.map((code) => recoveryDigest(code)!),
    );
    await enrol(database, id, 0);
    const totp = new TOTP({ secret });
    // Each code counts once, and one of the next step is taken too. For more of them the store forgets the last one.
    let at = 0;
    const nextCode = async () => {
      at = Math.max(at + STEP_MS, Date.now());
      if (at > Date.now() + STEP_MS) {
        await database.query('UPDATE operators SET totp_step = 0 WHERE id = $1', [id]);
        at = Date.now();
      }
      return totp.generate({ timestamp: at });
    };
    const signIn = async () => {
      const { cookie, key } = newSession();
      await startSession(database, key, { operatorId: id, isWhole: true });
      const signedIn = new Visitor(url);
      signedIn.cookie = `ventanilla=${cookie}`;
      return signedIn;
    };
    return { id, login, recoveryCodes, nextCode, signIn };
  };
  return { url: () => url, failures, invite, enrolled, visitor: () => new Visitor(url) };
}
