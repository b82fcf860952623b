/**
 * Routes by which a browser signs in by OpenID Connect, or binds an account (docs/operators.md, "Sign-in by OpenID
 * Connect"). `uses/oidc-begin.ts` and `uses/oidc-end.ts` do the work.
 */
import { Type } from 'typebox';
import type { OnTry } from '../../../domain/operator/sign-in-try.ts';
import { type Answer, type Call, type Route, route } from '../../../wire/operator/route.ts';
import { ProviderError } from '../uses/identity-provider.ts';
import { type Begun, beginAgain, beginBinding, beginSignIn, type Oidc } from '../uses/oidc-begin.ts';
import { type Ended, endSignIn } from '../uses/oidc-end.ts';
import { NO_LINK } from './enrolment.ts';
import { AtProvider, Nothing, ProviderAnswer, ShortText, Strict, WaysIn } from './forms.ts';
import { NOT_PROVED } from './session.ts';
import { throttled } from './throttled.ts';

/** Where the identity provider sends the browser, below the origin of the console. */
export const CALLBACK = '/api/session/oidc/callback';

/** Logs a fault of the identity provider. */
type LogFault = (error: ProviderError) => void;

const NOT_OFFERED = {
  status: 404,
  body: { error: 'sign-in by OpenID Connect is not set up here (OIDC_ISSUER)' },
};
const AWAY = {
  status: 502,
  body: { error: 'the identity provider does not answer: try again, or tell an admin' },
};

/** The routes of a sign-in by OpenID Connect; without `oidc` they answer that it is not set up. */
export function oidcRoutes(oidc: Oidc | null, logFault: LogFault, onTry: OnTry): Route[] {
  const begin = (start: (oidc: Oidc) => Promise<Begun>, refused: Answer<never>) =>
    oidc === null ? NOT_OFFERED : started(start(oidc), refused, { logFault, onTry });
  return [
    waysRoute(oidc?.provider.name ?? null),
    route({
      method: 'POST',
      path: '/session/oidc',
      access: 'open',
      reply: AtProvider,
      failures: [404, 502],
      summary: 'Begins a sign-in at the identity provider: the browser has to go to the address.',
      run: async ({ address, deviceCookie }) =>
        begin((to) => beginSignIn(to, { address, deviceCookie }), NOT_OFFERED),
    }),
    route({
      method: 'POST',
      path: '/enrolment/oidc',
      access: 'open',
      reply: AtProvider,
      failures: [404, 502],
      summary: 'Begins to bind the account behind a link to the identity of who signs in at the provider.',
      body: Strict({ token: ShortText }),
      run: async ({ body: { token }, address }) => begin((to) => beginBinding(to, address, token), NO_LINK),
    }),
    route({
      method: 'POST',
      path: '/session/again/oidc',
      access: 'viewer',
      reply: AtProvider,
      failures: [404, 502],
      summary: 'Begins to prove both factors again, with a code of the app where the account has one.',
      body: Strict({ code: Type.Optional(ShortText) }),
      run: async ({ body: { code }, session, sessionKey, address }) =>
        begin(
          (to) => beginAgain(to, address, { operatorId: session.operatorId, key: sessionKey, code }),
          NOT_PROVED,
        ),
    }),
    route({
      method: 'GET',
      path: CALLBACK.replace('/api', ''),
      access: 'open',
      isCallback: true,
      failures: [404],
      summary: 'Takes the answer of the identity provider, which sends the browser here.',
      query: ProviderAnswer,
      reply: Nothing,
      run: async (call) => {
        if (oidc === null) return NOT_OFFERED;
        const outcome = await ended(oidc, call, logFault);
        onTry('provider', PROVED.includes(outcome.kind) ? 'done' : 'refused');
        return goOn(outcome);
      },
    }),
  ];
}

/** The route that tells the ways in; `provider` is the identity provider's host, null where there is none. */
export function waysRoute(provider: string | null): Route {
  return route({
    method: 'GET',
    path: '/session/oidc',
    access: 'open',
    reply: WaysIn,
    summary: 'Tells whether sign-in by OpenID Connect is offered.',
    run: async ({ session }) => ({
      body: { offered: provider !== null, name: provider, ...codeOf(session) },
    }),
  });
}

/** Whose code this browser has to give. The first factor is proved, so the login is no news to anybody. */
function codeOf(session: Call<unknown, unknown, 'open'>['session']): {
  needs_code: boolean;
  login: string | null;
} {
  const half = session?.isWhole === false ? session : null;
  return { needs_code: half !== null, login: half?.login ?? null };
}

async function started(
  start: Promise<Begun>,
  refused: Answer<never>,
  { logFault, onTry }: { logFault: LogFault; onTry: OnTry },
): Promise<Answer<{ url: string }>> {
  try {
    const begun = await start;
    if (begun.kind !== 'done') onTry('provider', begun.kind === 'refused' ? 'refused' : 'locked_out');
    if (begun.kind === 'refused') return refused;
    if (begun.kind === 'done') return { body: { url: begun.url }, pendingCookie: begun.secret };
    return throttled(begun.retryAfterSeconds);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    logFault(error);
    return AWAY;
  }
}

/** The outcomes in which the provider's sign-in was taken. */
const PROVED: readonly string[] = ['done', 'again', 'bound'];

type SignInEnd = Ended | { readonly kind: ProviderError['fault'] };

async function ended(
  oidc: Oidc,
  {
    query,
    pendingCookie: secret,
    session,
    sessionKey,
    deviceCookie,
    address,
    browser,
  }: Call<unknown, Record<string, string | string[]>, 'open'>,
  logFault: LogFault,
): Promise<SignInEnd> {
  const answer = new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  );
  try {
    return await endSignIn(oidc, { secret, answer, session, sessionKey, deviceCookie, address, browser });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    logFault(error);
    return { kind: error.fault };
  }
}

/**
 * Sends the browser to the page, whose address says what became of the sign-in. The token stands behind `#`, which no
 * server gets.
 */
function goOn(outcome: SignInEnd): Answer<never> {
  const away = { body: null, pendingCookie: '' };
  switch (outcome.kind) {
    case 'done': {
      const { kind, ...cookies } = outcome;
      return { ...away, ...cookies, redirect: '/' };
    }
    case 'again':
      return { ...away, cookie: outcome.cookie, redirect: '/?oidc=again' };
    case 'bound':
      return { ...away, redirect: `/#bound=${outcome.token}` };
    case 'over':
      // Another sign-in may be under way in this browser, and this answer does not belong to it.
      return { body: null, redirect: '/?oidc=over' };
    default:
      return { ...away, redirect: `/?oidc=${outcome.kind}` };
  }
}
