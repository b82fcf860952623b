/**
 * Routes by which a browser signs in, signs in again and signs out (docs/operators.md, "The operator API").
 * `uses/sign-in.ts` and the files beside it have the rules.
 */
import { authorityJson } from '../../../domain/operator/authority.ts';
import type { AccountId } from '../../../domain/operator/operator-name.ts';
import type { BrowserSession, Whose } from '../../../domain/operator/session.ts';
import type { OnTry, SignInResult, SignInStep } from '../../../domain/operator/sign-in-try.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Answer, type Call, type Route, route } from '../../../wire/operator/route.ts';
import { readProfile } from '../uses/manage.ts';
import { giveCode, givePassword, type SignIn } from '../uses/sign-in.ts';
import { proveAgain } from '../uses/sign-in-again.ts';
import { signOut, signOutEverywhere } from '../uses/sign-out.ts';
import { GivenPassword, Nothing, ShortText, SignedIn, Strict } from './forms.ts';
import { throttled } from './throttled.ts';

/** The routes by which accounts of `whose` begin, renew and end their sessions. `onTry` hears of each try. */
export function sessionRoutes(
  store: { database: Database; vault: Vault; clock: Clock },
  whose: Whose,
  onTry: OnTry,
): Route[] {
  const access = whose === 'operator' ? 'viewer' : 'member';
  const answer = (step: SignInStep, signIn: SignIn, refused?: Answer<never>) => {
    onTry(step, RESULTS[signIn.kind]);
    return answerOf(signIn, refused);
  };
  return [
    route({
      method: 'POST',
      path: '/session',
      access: 'open',
      summary: 'Signs in with the password. The session may then only give the code.',
      body: Strict({ login: ShortText, password: GivenPassword }),
      reply: Nothing,
      run: async ({ body, session, sessionKey, address, browser, deviceCookie }) => {
        const given = { whose, ...body, address, browser, deviceCookie, before: session && sessionKey };
        return answer('password', await givePassword(store, given));
      },
    }),
    route({
      method: 'POST',
      path: '/session/totp',
      access: 'first factor',
      summary: 'Gives the second factor: a code of the app, or a recovery code.',
      body: Strict({ code: ShortText }),
      reply: Nothing,
      run: async ({ body, session, sessionKey, address, browser, deviceCookie }) => {
        const from = { address, browser, deviceCookie };
        const given = { who: accountOf(session), key: sessionKey, code: body.code, ...from };
        return answer('code', await giveCode(store, given));
      },
    }),
    route({
      method: 'POST',
      path: '/session/again',
      access,
      summary: 'Proves both factors again, for what needs a new sign-in. The session gets another secret.',
      body: Strict({ password: GivenPassword, code: ShortText }),
      reply: Nothing,
      run: async ({ body, session, sessionKey, address, browser }) => {
        const proof = { whose, ...body, login: session.login, key: sessionKey, address, browser };
        return answer('again', await proveAgain(store, proof), NOT_PROVED);
      },
    }),
    route({
      method: 'DELETE',
      path: '/session',
      access: 'open',
      summary: 'Signs out. The last session of an operator gives back what the operator has claimed.',
      reply: Nothing,
      run: async ({ session, sessionKey }) => {
        if (session !== null && sessionKey !== null) await signOut(store, session.operatorId, sessionKey);
        return { body: {}, cookie: '' };
      },
    }),
    route({
      method: 'POST',
      path: '/session/sign-out-everywhere',
      access,
      summary: 'Ends all sessions of the operator, and gives back what the operator has claimed.',
      body: Nothing,
      reply: Nothing,
      run: async ({ session }) => {
        await signOutEverywhere(store, accountOf(session));
        return { body: {}, cookie: '' };
      },
    }),
  ];
}

function accountOf({ operatorId: id, partnerId }: BrowserSession): AccountId {
  return { id, partnerId };
}

/** The route that tells an operator's page whose session it is; `hasOidc`: sign-in by OpenID Connect is set up. */
export function operatorSessionRoute(store: { database: Database; vault: Vault }, hasOidc: boolean): Route {
  return route({
    method: 'GET',
    path: '/session',
    access: 'viewer',
    summary: 'Tells who is signed in, and what the operator may do.',
    reply: SignedIn,
    run: async ({ session }) => ({ body: await signedIn(store, session, hasOidc) }),
  });
}

/** Who is signed in, and what the operator may do. */
async function signedIn(
  { database, vault }: { database: Database; vault: Vault },
  session: Call<never, never>['session'],
  oidc: boolean,
) {
  const { authority, ...profile } = await readProfile(database, vault, session.operatorId);
  return inForm(SignedIn, {
    ...profile,
    ...session,
    id: session.operatorId,
    authority: authorityJson(authority),
    oidc,
  });
}

const RESULTS = {
  done: 'done',
  refused: 'refused',
  throttled: 'locked_out',
} as const satisfies Record<SignIn['kind'], SignInResult>;

/** Not 401, because the session goes on. */
export const NOT_PROVED = {
  status: 403,
  body: { error: 'password or code is wrong', needs: 'sign-in' },
} as const;
const REFUSED = { status: 401, body: { error: 'login, password or code is wrong' } };

function answerOf(signIn: SignIn, refused: Answer<never> = REFUSED): Answer<Record<string, never>> {
  switch (signIn.kind) {
    case 'done': {
      const { kind, ...cookies } = signIn;
      return { body: {}, ...cookies };
    }
    case 'refused':
      return refused;
    case 'throttled':
      return throttled(signIn.retryAfterSeconds);
  }
}
