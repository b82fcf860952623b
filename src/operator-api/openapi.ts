/** The OpenAPI document (3.1) of the operator API, made from the table of routes. */
import { cookieName } from './cookie.ts';
import { OPERATOR_HEADER, type Route } from './route.ts';

type Json = { readonly [key: string]: unknown };

const ERROR = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    needs: { enum: ['sign-in', 'code'], description: 'What to do before the same request.' },
  },
  required: ['error'],
};
const FAILURES: Readonly<Record<string, string>> = {
  400: 'The body or the query has another form.',
  401: 'There is no session, it ended, or it is not of the operator whom the request names.',
  403: 'The role is not enough, the sign-in is too long ago, or the request comes from another site.',
  429: 'Too many tries; Retry-After tells the seconds to wait.',
  500: 'A failure that may pass; try again.',
};

const SHOWN_OPERATOR = {
  ...{ name: OPERATOR_HEADER, in: 'header', required: false, schema: { type: 'string' } },
  description: 'The id of the operator whom the page shows: 401 where the session is of another one.',
};

/** The document. Open routes have the empty security. */
export function openapiOf(routes: readonly Route[], origin: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Ventanilla, operator API', version: '1' },
    servers: [{ url: origin }],
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: cookieName('session', origin) } },
    },
    paths,
  };
}

function operationOf({
  method,
  path,
  access,
  summary,
  needsFresh,
  isCallback,
  headers,
  body,
  query,
  reply,
}: Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[/{}.-]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...(access === 'open' ? { security: [] } : { security: [{ session: [] }], 'x-role': access }),
    ...(needsFresh && { 'x-needs-fresh-sign-in': true }),
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...queryParameters(query),
      ...(access === 'open' ? [] : [SHOWN_OPERATOR]),
      ...(headers ?? []).map((name) => ({
        ...{ name, in: 'header', required: name === 'If-Match', schema: { type: 'string' } },
      })),
    ],
    ...(body && { requestBody: { required: true, content: jsonOf(body) } }),
    responses: {
      ...(isCallback
        ? { 303: { description: 'The browser goes on to the page.' } }
        : { 200: { description: 'Done.', content: jsonOf(reply) } }),
      ...Object.fromEntries(
        Object.entries(FAILURES).map(([status, description]) => [
          status,
          { description, content: jsonOf(ERROR) },
        ]),
      ),
    },
  };
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
