/**
 * Routes by which operators see and end their sessions, and admins those of all (docs/operators.md, "The operator
 * API").
 */
import { type Static, Type } from 'typebox';
import { authorityJson, ROLES } from '../../../domain/operator/authority.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { type Route, route } from '../../../wire/operator/route.ts';
import { listOperators } from '../uses/manage.ts';
import {
  endOneSession,
  type ShownSession as Listed,
  listOwnSessions,
  listSessions,
  sessionName,
} from '../uses/sessions.ts';

const ShownSession = form({
  id: Type.String(),
  /** False: the second factor is missing. */
  is_whole: Type.Boolean(),
  started_at: Time,
  /** When somebody used it last. */
  seen_at: Time,
  /** It is the session that asks. */
  is_own: Type.Boolean(),
  /** The network of the address at which it began; null: not known. */
  network: orNull(Type.String()),
  /** With which browser and system; null: neither is known. */
  browser: orNull(Type.String()),
});

/** Those that are not over, the newest first. */
export const OwnSessions = form({ sessions: Type.Array(ShownSession) });
export type OwnSessionsReply = Static<typeof OwnSessions>;

export const Operators = form({
  /** The oldest first. */
  operators: Type.Array(
    form({
      id: Type.Integer(),
      login: Type.String(),
      role: oneOf(ROLES),
      /** The largest amount, by currency, that the operator decides alone. */
      authority: Type.Record(Type.String(), Type.String()),
      created_at: Time,
      signs_in_with: orNull(oneOf(['password', 'oidc'])),
      /** null: the operator has set no factors, and cannot sign in. */
      enrolled_at: orNull(Time),
      disabled_at: orNull(Time),
      /** The account was changed by somebody without the keys of this service, and may do nothing. */
      forged: Type.Boolean(),
      /** Those that are not over, the newest first. */
      sessions: Type.Array(ShownSession),
    }),
  ),
});
export type OperatorsReply = Static<typeof Operators>;

export function operatorRoutes(store: { readonly database: Database; readonly vault: Vault }): Route[] {
  const { database, vault } = store;
  return [
    route({
      method: 'GET',
      path: '/operators',
      access: 'admin',
      summary: 'The operators with role, authority and the sessions that are not over.',
      reply: Operators,
      run: async ({ sessionKey }) => {
        const own = sessionName(sessionKey.id);
        const sessions = await listSessions(database);
        const operators = (await listOperators({ database, vault })).map((one) => ({
          ...{ id: one.id, login: one.login, role: one.role, authority: authorityJson(one.authority) },
          ...{ created_at: one.createdAt.toISOString(), signs_in_with: one.signsInWith },
          enrolled_at: one.enrolledAt?.toISOString() ?? null,
          disabled_at: one.disabledAt?.toISOString() ?? null,
          forged: one.isForged,
          sessions: (sessions.get(one.id) ?? []).map((session) => shown(session, own)),
        }));
        return { body: { operators } };
      },
    }),
    route({
      method: 'GET',
      path: '/sessions',
      access: 'viewer',
      summary: 'The own sessions that are not over.',
      reply: OwnSessions,
      run: async ({ session: { operatorId }, sessionKey }) => {
        const sessions = await listOwnSessions(database, operatorId);
        return { body: { sessions: sessions.map((one) => shown(one, sessionName(sessionKey.id))) } };
      },
    }),
    route({
      method: 'DELETE',
      path: '/sessions/{session}',
      access: 'viewer',
      summary: 'Ends an own session. The act is recorded.',
      failures: [404],
      reply: form({}),
      run: async ({ params, session: { operatorId } }) => {
        const named = { operatorId, name: params.session ?? '' };
        return (await endOneSession(store, operatorId, named)) ? { body: {} } : NO_SESSION;
      },
    }),
    route({
      method: 'DELETE',
      path: '/operators/{id}/sessions/{session}',
      access: 'admin',
      summary: 'Ends a session of an operator, who may sign in again. The act is recorded.',
      failures: [404],
      reply: form({}),
      run: async ({ params, session }) => {
        const operatorId = Number(params.id);
        const isOne = Number.isInteger(operatorId) && operatorId > 0 && operatorId < 2 ** 31;
        const named = { operatorId, name: params.session ?? '' };
        if (isOne && (await endOneSession(store, session.operatorId, named))) return { body: {} };
        return NO_SESSION;
      },
    }),
  ];
}

const NO_SESSION = { status: 404, body: { error: 'there is no such session' } };

/** `own`: the name of the session that asks. */
function shown({ id, isWhole, startedAt, seenAt, network, browser }: Listed, own: string) {
  return {
    ...{ id, is_whole: isWhole, is_own: id === own, network, browser },
    ...{ started_at: startedAt.toISOString(), seen_at: seenAt.toISOString() },
  };
}
