/** The shape of a route of the operator API. The listener and its document come from the same table. */
import type { Static, TSchema } from 'typebox';
import type { Role } from '../operators/rules/role.ts';
import type { BrowserSession, SessionKey } from '../operators/sql/sessions.ts';

/**
 * Who may use a route: everybody; who has given the password, and not yet the code; or an operator with the role or a
 * higher one, signed in with both factors.
 */
export type Access = 'open' | 'password given' | Role;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What a route gets of a request. */
export interface Call<Body, Query> {
  readonly body: Body;
  readonly query: Query;
  /** The values of the `{names}` in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** null where the route is open. */
  readonly session: BrowserSession | null;
  readonly sessionKey: SessionKey | null;
  /** The address of the connection. */
  readonly address: string;
}

/** What a route answers. */
export interface Answer<Reply> {
  /** 200 where it is absent. */
  readonly status?: number;
  readonly body: Reply | { readonly error: string };
  /** The new value of the session's cookie; the empty text takes the cookie away. */
  readonly cookie?: string;
  readonly retryAfterSeconds?: number;
}

/** A route, as the listener and the document read it. */
export interface Route {
  readonly method: Method;
  /** Below `/api`, with `{names}`. */
  readonly path: string;
  readonly access: Access;
  /** What the route does, for the document. */
  readonly summary: string;
  /** Both factors must have been proved within five minutes. */
  readonly needsFresh?: true;
  readonly body?: TSchema;
  readonly query?: TSchema;
  readonly reply: TSchema;
  readonly run: (call: Call<never, never>) => Promise<Answer<unknown>>;
}

interface RouteOf<Body extends TSchema, Query extends TSchema, Reply extends TSchema> {
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly needsFresh?: true;
  readonly body?: Body;
  readonly query?: Query;
  readonly reply: Reply;
  readonly run: (call: Call<Static<Body>, Static<Query>>) => Promise<Answer<Static<Reply>>>;
}

/** A route whose function gets and gives what its schemas say. */
export function route<Body extends TSchema, Query extends TSchema, Reply extends TSchema>(
  of: RouteOf<Body, Query, Reply>,
): Route {
  return of as unknown as Route;
}
