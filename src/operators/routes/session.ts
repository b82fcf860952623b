/** How a browser signs in and out. */
import { Type } from 'typebox';
import { type Answer, type Route, route } from '../../operator-api/route.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { ROLES } from '../rules/role.ts';
import { endSession } from '../sql/sessions.ts';
import { giveCode, givePassword, type SignIn } from '../uses/sign-in.ts';
import { Nothing, ShortText, Strict } from './forms.ts';

/** The routes of a session. */
export function sessionRoutes(store: { database: Database; vault: Vault }): Route[] {
  return [
    route({
      method: 'POST',
      path: '/session',
      access: 'open',
      summary: 'Signs in with the password. The session may then only give the code.',
      body: Strict({ login: ShortText, password: Type.String({ minLength: 1, maxLength: 1_024 }) }),
      reply: Nothing,
      run: async ({ body, address }) => answerOf(await givePassword(store, { ...body, address })),
    }),
    route({
      method: 'POST',
      path: '/session/totp',
      access: 'password given',
      summary: 'Gives the second factor: a code of the app, or a recovery code.',
      body: Strict({ code: ShortText }),
      reply: Nothing,
      run: async ({ body, session, sessionKey }) =>
        answerOf(
          await giveCode(store, { operatorId: session!.operatorId, key: sessionKey!, code: body.code }),
        ),
    }),
    route({
      method: 'GET',
      path: '/session',
      access: 'viewer',
      summary: 'Tells who is signed in.',
      reply: Strict({ id: Type.Integer(), login: Type.String(), role: Type.Enum([...ROLES]) }),
      run: async ({ session }) => ({
        body: { id: session!.operatorId, login: session!.login, role: session!.role },
      }),
    }),
    route({
      method: 'DELETE',
      path: '/session',
      access: 'open',
      summary: 'Signs out.',
      reply: Nothing,
      run: async ({ session, sessionKey }) => {
        if (session !== null && sessionKey !== null) await endSession(store.database, sessionKey.id);
        return { body: {}, cookie: '' };
      },
    }),
  ];
}

function answerOf(signIn: SignIn): Answer<Record<string, never>> {
  switch (signIn.kind) {
    case 'done':
      return { body: {}, cookie: signIn.cookie };
    case 'refused':
      return { status: 401, body: { error: 'login, password or code is wrong' } };
    case 'throttled': {
      const { retryAfterSeconds } = signIn;
      const error = `too many tries: wait ${retryAfterSeconds} seconds`;
      return { status: 429, body: { error }, retryAfterSeconds };
    }
  }
}
