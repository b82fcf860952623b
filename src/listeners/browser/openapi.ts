/**
 * Makes the OpenAPI document (3.1) of a listener for browsers from the table of its routes (docs/operators.md, "The
 * operator API"). Pure.
 */
import { ACTIVE_HEADER, OPERATOR_HEADER, type Route } from '../../wire/operator/route.ts';
import { cookieName, type Site } from './cookie.ts';

type Json = { readonly [key: string]: unknown };

const ERROR = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    needs: { enum: ['sign-in', 'code'], description: 'What to do before the same request.' },
  },
  required: ['error'],
};
const CHANGED = {
  ...ERROR,
  properties: {
    ...ERROR.properties,
    by: {
      type: 'object',
      properties: { id: { type: ['integer', 'null'] }, login: { type: 'string' } },
      required: ['id', 'login'],
    },
    act: { type: 'string' },
    at: { type: 'string' },
  },
};
/** The body of a 409 with one of these codes. */
const conflictOf = (codes: readonly string[]) => ({
  ...ERROR,
  required: ['error', 'code'],
  properties: {
    ...ERROR.properties,
    by: CHANGED.properties.by,
    act: { type: 'string', description: 'What was proposed.' },
    until: { type: ['string', 'null'], description: 'Until when that holds.' },
    state: { type: 'string', description: 'How the proposal stands.' },
    code: { enum: codes, description: 'Why it is refused.' },
    proposal: { type: 'object', description: 'What a confirmation would be about now, as the list has it.' },
    look: { type: 'object', description: 'What a decision on many would be about now, as a look has it.' },
  },
});
const ALWAYS = [400, 401, 403, 429, 500];
const TAG = { ETag: { description: 'The state of the answer.', schema: { type: 'string' } } };
const FAILURES: Readonly<Record<number, string>> = {
  400: 'The body or the query has another form.',
  401: 'There is no session, it ended, or it is not of the operator whom the request names.',
  403: 'The role is not enough, the sign-in is too long ago, or the request comes from another site.',
  404: 'There is none with the id, the token or the key of the request.',
  409: 'Its state, or what another operator does with it, does not allow this.',
  412: 'Something happened since the event of If-Match: by whom, what and when.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  428: 'If-Match is missing.',
  429: 'Too many tries; Retry-After tells the seconds to wait.',
  500: 'A failure that may pass; try again.',
  502: 'The identity provider does not answer.',
};

const FRESH = {
  true: 'Needs a sign-in of the last five minutes: else 403 with `needs`, which is `sign-in`.',
  'for a payment':
    'With the act `disburse` it needs a sign-in of the last five minutes: else 403 with `needs`, which is `sign-in`.',
};

const SHOWN_OPERATOR = {
  name: OPERATOR_HEADER,
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description:
    'The id of the operator whom the page shows: 401 where there is a session, and it is of another one.',
};

const ACTIVE = {
  name: ACTIVE_HEADER,
  in: 'header',
  required: false,
  schema: { enum: ['true', 'false'] },
  description:
    'Whether somebody is at the page. Only then a session goes on without its idle end; by default for all methods but GET.',
};

const TITLES = { operator: 'Ventanilla, operator API', partner: 'Ventanilla, portal API' } as const;

/** The document. Open routes have the empty security. */
export function openapiOf(routes: readonly Route[], site: Site): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: TITLES[site.whose], version: '1' },
    servers: [{ url: site.origin }],
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: cookieName('session', site) } },
    },
    paths,
  };
}

function operationOf(route: Route): Json {
  const { method, path, access, summary, needsFresh, headers, bytes, body = bytes, query } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[/{}.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(access === 'open' ? { security: [] } : { security: [{ session: [] }], 'x-role': access }),
    ...(needsFresh && { 'x-needs-fresh-sign-in': true, description: FRESH[`${needsFresh}`] }),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...queryParameters(query),
      SHOWN_OPERATOR,
      ...(access === 'open' ? [] : [ACTIVE]),
      ...(headers ?? []).map((name) => ({
        name,
        in: 'header',
        required: name === 'If-Match',
        schema: { type: 'string' },
      })),
    ],
    ...(body && { requestBody: { required: true, content: jsonOf(body) } }),
    responses: responsesOf(route),
  };
}

function responsesOf({ isCallback, hasTag, reply, ...route }: Route): Json {
  const bodies: Readonly<Record<number, Json>> = { 409: conflictOf(route.conflicts ?? []), 412: CHANGED };
  const done = { description: 'Done.', ...(hasTag && { headers: TAG }), content: jsonOf(reply) };
  return {
    ...(isCallback ? { 303: { description: 'The browser goes on to the page.' } } : { 200: done }),
    ...(hasTag && {
      304: { description: 'The tag of If-None-Match is still that of the answer.', headers: TAG },
    }),
    ...Object.fromEntries(
      failuresOf(route).map((status) => [
        status,
        { description: FAILURES[status]!, content: jsonOf(bodies[status] ?? ERROR) },
      ]),
    ),
  };
}

function failuresOf({
  failures = [],
  conflicts = [],
  headers = [],
  method,
}: Pick<Route, 'failures' | 'conflicts' | 'headers' | 'method'>): number[] {
  const ofBody = method === 'GET' ? [] : [413, 415];
  return [
    ...ALWAYS,
    ...failures,
    ...(conflicts.length > 0 ? [409] : []),
    ...(headers.includes('If-Match') ? [412, 428] : []),
    ...ofBody,
  ];
}

function queryParameters(query: Route['query']): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Json;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function jsonOf(schema: unknown): Json {
  return { 'application/json': { schema } };
}
