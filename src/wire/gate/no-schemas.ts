/**
 * Switches off Fastify's own schemas, which no route uses. Otherwise Fastify loads two compilers of schemas at every
 * start.
 */
import type { FastifyServerOptions } from 'fastify';

function refuse(): never {
  throw new Error('no route has a schema');
}

/** The option `schemaController` of every listener. */
export const NO_SCHEMAS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};
