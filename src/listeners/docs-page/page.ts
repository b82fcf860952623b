/**
 * Answers `/docs`, `/openapi.json` and `/openapi.es.json`, which are made at the start, and again when the bands change
 * (contract, "Endpoints").
 * Reads the page's files. src/wire/contract/README.md has the rule.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LANGUAGES, type Language } from '../../ground/base/language.ts';
import { isLoopback } from '../../ground/base/loopback.ts';
import { openApi } from '../../wire/contract/openapi.ts';
import type { Schema } from '../../wire/contract/openapi-request.ts';
import type { Docs } from './parts.ts';
import { renderDocs } from './whole-page.ts';

const FOLDER = join(import.meta.dirname, 'page');
const FILES: readonly (readonly [name: string, file: string, type: string])[] = [
  ['page.css', 'page.css', 'text/css; charset=utf-8'],
  ['page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['filter.js', 'filter.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', '../../partner/icon.svg', 'image/svg+xml'],
];

const DOCUMENTS = [
  ['openapi.json', 'en'],
  ['openapi.es.json', 'es'],
] as const;

/** The page loads only its own files, runs nothing inline and stands in no frame. Browsers revalidate it each time. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
};

interface Asset {
  readonly content: Buffer;
  readonly type: string;
  readonly tag: string;
}

export interface DocsOptions extends Omit<Docs, 'language' | 'hasSimulator' | 'bands'> {
  /** The least scores of the policy that is live now. */
  readonly bands: () => Docs['bands'];
  /** The URL of the simulator's page under the hostname of a request; absent or null: there is no such page. */
  readonly simulatorUrl?: ((hostname: string) => string) | null;
  /** The requests that the service itself sends, for the OpenAPI documents; absent: none. */
  readonly webhooks?: Schema;
}

/**
 * Adds the documentation to the partners' listener, for GET only and without a key. `?lang=` decides the page's
 * language, else the Accept-Language header.
 */
export function addDocs(app: FastifyInstance, options: DocsOptions): void {
  const { basePath, simulatorUrl = null } = options;
  const hasSimulator = simulatorUrl !== null;
  const pagesWith = (bands: Docs['bands']): Readonly<Record<Language, Asset>> => {
    const page = (language: Language) =>
      asset(renderDocs({ ...options, bands, hasSimulator, language }), 'text/html; charset=utf-8');
    return { en: page('en'), es: page('es') };
  };
  let bands = options.bands();
  let pages = pagesWith(bands);
  app.get(`${basePath}/docs`, (request, reply) => {
    const { lang } = request.query as { lang?: unknown };
    const language = LANGUAGES.find((known) => known === lang) ?? request.language;
    reply.headers({ Vary: 'Accept-Language', 'Content-Language': language });
    const now = options.bands();
    if (now.approved !== bands.approved || now.in_review !== bands.in_review) {
      bands = now;
      pages = pagesWith(bands);
    }
    return send(pages[language], request, reply);
  });
  for (const [name, language] of DOCUMENTS) {
    const text = JSON.stringify(openApi({ ...options, language }), null, 2);
    const document = asset(`${text}\n`, 'application/json');
    app.get(`${basePath}/${name}`, (request, reply) => send(document, request, reply));
  }
  if (simulatorUrl !== null) {
    app.get(`${basePath}/docs/simulator`, (request, reply) => {
      const host = `http://${request.headers.host}`;
      const hostname = URL.canParse(host) ? new URL(host).hostname : '';
      // Only this machine can open the page, whatever name the request came under.
      return reply.redirect(simulatorUrl(isLoopback(hostname) ? hostname : 'localhost'));
    });
  }
  for (const [name, file, type] of FILES) {
    const content = asset(readFileSync(join(FOLDER, file)), type);
    app.get(`${basePath}/docs/${name}`, (request, reply) => send(content, request, reply));
  }
}

function asset(text: string | Buffer, type: string): Asset {
  const content = Buffer.from(text);
  return { content, type, tag: `"${hash('sha256', content, 'base64url')}"` };
}

function send({ content, type, tag }: Asset, request: FastifyRequest, reply: FastifyReply) {
  reply.headers(HEADERS).header('ETag', tag);
  if (request.headers['if-none-match'] === tag) return reply.status(304).send();
  // The content is bytes, because Fastify adds a charset to the JSON type of a text.
  return reply.header('Content-Type', type).send(content);
}
