/**
 * The shape of a route of the operator API, or of the portal's. The listener and its document are made from the same
 * table. Types, and one maker. docs/operators.md ("The operator API") has the rule.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import type { PartnerRole, Role } from '../../domain/operator/authority.ts';
import type { BrowserSession, SessionKey } from '../../domain/operator/session.ts';
import type { PartnerId } from '../../domain/partner/credential.ts';

/**
 * Who may use a route: everybody; who has proved the first factor, and not yet the second one; or an operator or a
 * partner's account with the role or a higher one of the same list, signed in with both factors.
 */
export type Access = 'open' | 'first factor' | Role | PartnerRole;

/** What an operator has to do before the same request: sign in again, or give the code that is missing. */
export type Needs = 'sign-in' | 'code';

/** The body of an answer that is no success. */
export interface Failure {
  readonly error: string;
  readonly needs?: Needs;
}

/**
 * The id of the operator whom a page shows. A browser has one session for all its tabs. If a tab shows another operator
 * than that of the session, its requests are refused, also at an open route. A sign-in has no operator yet.
 */
export const OPERATOR_HEADER = 'Operator-Id';

/**
 * Whether somebody is at the page that sends the request. Without the header, a reading counts as sent by the page
 * alone. So a client that forgets it only ends a session early; it never prolongs one that nobody uses.
 */
export const ACTIVE_HEADER = 'Operator-Active';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * `If-Match`: the last event that the operator knew when deciding. `Idempotency-Key`: a repetition counts once.
 * `Operator-Page`: the page that uses what the request claims, by a UUID that the page made.
 */
export type RouteHeader = 'If-Match' | 'Idempotency-Key' | 'Operator-Page';

/**
 * The statuses with which a route may refuse, beside those that every route has. 404: there is no such thing. 502: the
 * identity provider does not answer. The statuses of a header, a body or a list of conflicts (409, 412, 413, 415, 428)
 * follow from those.
 */
export type FailureStatus = 404 | 502;

type NeedsFresh = true | 'for a payment';

/** Whoever asks at an open route, and a session at every other one. */
interface Anybody {
  readonly session: BrowserSession | null;
  readonly sessionKey: SessionKey | null;
}

interface SignedIn<A extends Access> {
  readonly session: SessionOf<A>;
  readonly sessionKey: SessionKey;
}

/** An operator's session, one of a person at a partner, or one of which the listener alone tells whose it is. */
type SessionOf<A extends Access> = A extends Role
  ? BrowserSession & { readonly role: Role; readonly partnerId: null }
  : A extends PartnerRole
    ? BrowserSession & { readonly role: PartnerRole; readonly partnerId: PartnerId }
    : BrowserSession;

/** What a route gets of a request. */
export type Call<Body, Query, A extends Access = Role> = (A extends 'open' ? Anybody : SignedIn<A>) &
  Asked<Body, Query>;

interface Asked<Body, Query> {
  readonly body: Body;
  readonly query: Query;
  /** The values of the `{names}` in the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The secret of a sign-in under way at the identity provider. */
  readonly pendingCookie: string | null;
  /** The cookie of a browser that knows operators. */
  readonly deviceCookie: string | null;
  /** The address of the connection; of IPv6 its /64. */
  readonly address: string;
  /** Browser and system of the `User-Agent`, in words of a closed list; null: neither is known. */
  readonly browser: string | null;
  /** The tags of `If-None-Match`, without quotation marks: the states that the browser has already. */
  readonly knownTags: readonly string[];
  /**
   * The tag of `If-Match`, without quotation marks: the state that the operator decided on; null: there is none, or
   * several.
   */
  readonly decidedOn: string | null;
  /** The `Idempotency-Key`; null: there is none. */
  readonly idempotencyKey: string | null;
  /** The `Operator-Page`; null: there is none. */
  readonly page: string | null;
  readonly sent: Sent;
}

/** The request as it was sent, for a route that takes bytes. */
interface Sent {
  readonly headers: IncomingHttpHeaders;
  /** The latest time of the answer, on `Clock.monotonicMs`. */
  readonly deadline: number;
  /** Whether the client has left. */
  readonly isGone: () => boolean;
}

/** What a route answers. */
export interface Answer<Reply> {
  /** 200 if it is absent. */
  readonly status?: number;
  /** null only with a redirect, and with the status 304, which says that the browser has the body already. */
  readonly body: Reply | Failure | null;
  /** The `ETag`, without quotation marks. */
  readonly tag?: string;
  /** The new value of the session's cookie; the empty text takes the cookie away. */
  readonly cookie?: string;
  /** The new secret of the sign-in under way; the empty text takes its cookie away. */
  readonly pendingCookie?: string;
  /** The new value of the cookie of a browser that knows operators. */
  readonly deviceCookie?: string;
  /** The path of the page to which the browser is redirected (303); then the body is null. */
  readonly redirect?: string;
  readonly retryAfterSeconds?: number;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route, as the listener and the document read it. */
export interface Route {
  readonly method: Method;
  /** Below `/api`, with `{names}`. */
  readonly path: string;
  readonly access: Access;
  /** What the route does, for the document. */
  readonly summary: string;
  /**
   * Both factors must have been proved within five minutes. `true`: for each request, and the listener refuses it.
   * Otherwise only for what concerns a payment, and the route refuses it.
   */
  readonly needsFresh?: NeedsFresh;
  /** The headers that the route reads: the document names them. */
  readonly headers?: readonly RouteHeader[];
  /** The document names these, and a test compares them with what the route answers. */
  readonly failures?: readonly FailureStatus[];
  /** The codes of its refusals with 409. */
  readonly conflicts?: readonly string[];
  /** The answer has an `ETag`, and is 304 if the browser has it already. */
  readonly hasTag?: true;
  /** The identity provider's page leads here, so a navigation from another site is allowed. No other route has this. */
  readonly isCallback?: true;
  /** The largest body, where that is over 64 KiB. Such a body is only read for a session that may use the route. */
  readonly maxBodyBytes?: number;
  /** The body reaches the route as the bytes that were sent. The route checks them; the document names this form. */
  readonly bytes?: TSchema;
  readonly body?: TSchema;
  readonly query?: TSchema;
  readonly reply: TSchema;
  readonly run: (call: never) => Promise<Answer<unknown>>;
}

interface RouteOf<A extends Access, Body extends TSchema, Query extends TSchema, Reply extends TSchema> {
  readonly method: Method;
  readonly path: string;
  readonly access: A;
  readonly summary: string;
  readonly needsFresh?: NeedsFresh;
  readonly headers?: readonly RouteHeader[];
  readonly failures?: readonly FailureStatus[];
  readonly conflicts?: readonly string[];
  readonly hasTag?: true;
  readonly isCallback?: true;
  readonly maxBodyBytes?: number;
  readonly bytes?: TSchema;
  readonly body?: Body;
  readonly query?: Query;
  readonly reply: Reply;
  readonly run: (call: Call<Static<Body>, Static<Query>, A>) => Promise<Answer<Static<Reply>>>;
}

/** A route whose function gets and gives what its schemas say. */
export function route<A extends Access, Body extends TSchema, Query extends TSchema, Reply extends TSchema>(
  of: RouteOf<A, Body, Query, Reply>,
): Route {
  return of as unknown as Route;
}
