/** The simulator's page and its requests: each applicant's phone is a chat. */

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../base/loopback.ts';
import type { Form, FormName } from './page-forms.ts';
import {
  openMessage,
  readChats,
  readFaults,
  releaseWaiting,
  type SimulatorContext,
  setFaults,
  tapButton,
  writeText,
} from './simulator.ts';

const FOLDER = join(import.meta.dirname, 'page');
const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/simulator', 'page.html', 'text/html; charset=utf-8'],
  ['/simulator/page.css', 'page.css', 'text/css; charset=utf-8'],
  ['/simulator/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/simulator/find.js', 'find.js', 'text/javascript; charset=utf-8'],
  ['/simulator/view.js', 'view.js', 'text/javascript; charset=utf-8'],
  ['/simulator/faults.js', 'faults.js', 'text/javascript; charset=utf-8'],
  ['/simulator/icon.svg', '../../http/icon.svg', 'image/svg+xml'],
];

/** The page loads only its own files, runs nothing inline, stands in no frame and is never cached. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const MAX_BODY_BYTES = 16_384;

/**
 * Adds `/simulator` and the paths below it to the operators' listener, for a service with the channel `simulator`. The
 * Host header must be a loopback name or `opsHost`. This refuses a page of another site whose name resolves to this
 * machine (DNS rebinding). `docsUrl` gives the URL of the documentation under the hostname of a request.
 */
export function addSimulatorPage(
  app: FastifyInstance,
  context: SimulatorContext,
  opsHost: string,
  docsUrl: (hostname: string) => string,
): void {
  app.register(async (page) => {
    page.removeContentTypeParser('text/plain');
    page.addHook('onRequest', async (request, reply) => {
      reply.headers(HEADERS);
      const refusal = refusalOf(request, opsHost);
      if (refusal !== null) return reply.status(403).send({ error: refusal });
    });
    page.setErrorHandler(presentError);
    addFiles(page);
    addReads(page, context);
    addActs(page, context);
    page.get('/simulator/docs', (request, reply) =>
      reply.redirect(docsUrl(hostnameOf(`http://${request.headers.host}`) as string)),
    );
  });
}

/** The reason to refuse a request; null where the request is allowed. */
function refusalOf({ method, headers }: FastifyRequest, opsHost: string): string | null {
  const host = hostnameOf(`http://${headers.host}`);
  if (host === null || !(isLoopback(host) || host === hostnameOf(urlOf(opsHost)))) {
    return 'open this page as localhost, or under the name in OPS_HOST';
  }
  const { origin } = headers;
  if (method !== 'GET' && method !== 'HEAD' && origin !== undefined) {
    // Compares hosts only, because a proxy may change the scheme.
    if (!URL.canParse(origin) || new URL(origin).host !== new URL(`http://${headers.host}`).host) {
      return 'the request comes from another page';
    }
  }
  return null;
}

function urlOf(host: string): string {
  return `http://${host.includes(':') ? `[${host}]` : host}`;
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

function addFiles(page: FastifyInstance): void {
  for (const [path, file, type] of FILES) {
    const content = readFileSync(join(FOLDER, file));
    page.get(path, (_request, reply) => reply.type(type).send(content));
  }
}

function addReads(page: FastifyInstance, context: SimulatorContext): void {
  page.get('/simulator/chats', async (request, reply) => {
    const { hasForm } = await import('./page-forms.ts');
    if (!hasForm('chats', request.query)) return reply.status(400).send({ error: 'the query is wrong' });
    const body = JSON.stringify(await readChats(context, request.query.phone ?? null));
    const tag = `"${hash('sha256', body, 'base64url')}"`;
    reply.header('ETag', tag);
    if (request.headers['if-none-match'] === tag) return reply.status(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
  page.get('/simulator/faults', async () => readFaults(context));
}

function addActs(page: FastifyInstance, context: SimulatorContext): void {
  const act = <Name extends FormName>(name: Name, run: (body: Form<Name>) => Promise<boolean>) =>
    page.post(`/simulator/${name}`, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
      const { body } = request;
      const { hasForm } = await import('./page-forms.ts');
      if (!hasForm(name, body)) {
        return reply.status(400).send({ error: 'the body does not have the expected form' });
      }
      const done = await run(body);
      return done ? {} : reply.status(404).send({ error: 'the phone has no such message' });
    });
  act('tap', ({ messageId, button }) => tapButton(context, messageId, button));
  act('open', ({ messageId }) => openMessage(context, messageId));
  act('text', ({ messageId, body }) => writeText(context, messageId, body));
  act('release', async () => {
    await releaseWaiting(context);
    return true;
  });
  act('faults', async (faults) => {
    setFaults(context, faults);
    return true;
  });
}

/** A refusal of Fastify keeps its status, but not its text, which may repeat the request. */
async function presentError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply) {
  const status = error.statusCode ?? 500;
  if (status >= 500) return reply.status(500).send({ error: 'temporary internal error; retry' });
  const words = { 413: 'the body is too long', 415: 'the content type must be application/json' };
  return reply.status(status).send({ error: words[status as keyof typeof words] ?? 'the body must be JSON' });
}
