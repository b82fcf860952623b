/**
 * Serves the simulator's page and its requests over HTTP, to this machine only: each applicant's phone is a chat
 * (docs/messages.md, "The simulator"). Reads its own files from the disk.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toApplicationId } from '../../domain/application/ids.ts';
import type { UploadFile } from '../../domain/message/channel.ts';
import type { MediaKind } from '../../domain/message/channel-event.ts';
import { knownPhone, type Phone } from '../../domain/phone/phone.ts';
import { isLoopback, isLoopbackAddress } from '../../ground/base/loopback.ts';
import { phoneIndexOf } from '../../seal/blind-indexes.ts';
import { searchApplications } from '../applications/sql/application-search.ts';
import {
  chooseInReply,
  openMessage,
  openReply,
  releaseWaiting,
  sendOther,
  setWindow,
  tapButton,
  writeText,
} from './acts.ts';
import type { Simulator } from './channel.ts';
import type { SimulatorContext } from './context.ts';
import { type MadeUp, madeUpFile } from './made-up-files.ts';
import { readOwners } from './owners.ts';
import type { Form, FormName } from './page-forms.ts';
import { readChats } from './read-chats.ts';
import { now, saidNow } from './said-now.ts';

// First part: files that a person sends or opens on the page.

/** More than the service takes, so that a file can be too large for it. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** A browser shows files of these types itself. All others are saved, because they could run as a page of this host. */
const SHOWN = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'audio/ogg', 'audio/mpeg'];

/**
 * Adds `POST /simulator/files`, which keeps the body as a file of its content type and answers with its media id, and
 * `GET /simulator/files/{mediaId}`.
 */
function addMedia(page: FastifyInstance, { files }: Simulator): void {
  page.register(async (upload) => {
    upload.removeAllContentTypeParsers();
    upload.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    upload.post('/simulator/files', { bodyLimit: MAX_FILE_BYTES }, async (request, reply) => {
      const bytes = request.body;
      if (!Buffer.isBuffer(bytes) || bytes.length === 0)
        return reply.status(400).send({ error: 'the file is empty' });
      const contentType = typeOf(request.headers['content-type']);
      return { mediaId: files.keep({ bytes, contentType, filename: 'file' }) };
    });
  });
  page.get<{ Params: { mediaId: string } }>('/simulator/files/:mediaId', (request, reply) => {
    const file = files.get(request.params.mediaId);
    if (file === null)
      return reply.status(404).send({ error: 'the channel does not have this file any more' });
    return reply.type(servedType(file)).header('Content-Disposition', dispositionOf(file)).send(file.bytes);
  });
}

function typeOf(header: string | undefined): string {
  const [, type] = /^([a-z]{1,20}\/[a-z0-9.+-]{1,80})(?:;|$)/.exec(header?.toLowerCase() ?? '') ?? [];
  return type ?? 'application/octet-stream';
}

function servedType({ contentType }: UploadFile): string {
  return SHOWN.includes(contentType) ? contentType : 'application/octet-stream';
}

function dispositionOf({ contentType, filename }: UploadFile): string {
  const way = SHOWN.includes(contentType) ? 'inline' : 'attachment';
  return `${way}; filename*=UTF-8''${encodeURIComponent(filename.toWellFormed()).replace(/['()*]/g, '_')}`;
}

const FOLDER = join(import.meta.dirname, 'page');
const SCRIPTS = [
  'page.js',
  'find.js',
  'typed.js',
  'list.js',
  'chat.js',
  'bubbles.js',
  'composer.js',
  'second-phone.js',
  'stranger.js',
  'elements.js',
  'requests.js',
  'faults.js',
];
const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/simulator', 'page.html', 'text/html; charset=utf-8'],
  ['/simulator/page.css', 'page.css', 'text/css; charset=utf-8'],
  ...SCRIPTS.map((script) => [`/simulator/${script}`, script, 'text/javascript; charset=utf-8'] as const),
  ['/simulator/icon.svg', '../../../listeners/partner/icon.svg', 'image/svg+xml'],
];

/** The page loads only its own files, runs nothing inline, may stand in no frame, and is never cached. */
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
 * page has no password, so it answers only this machine. The Host header must be a loopback name: this refuses a page
 * of another site whose name resolves to this machine (DNS rebinding). `docsUrl` gives the URL of the documentation for
 * the hostname of a request.
 */
export function addSimulatorPage(
  app: FastifyInstance,
  context: SimulatorContext,
  docsUrl: (hostname: string) => string,
): void {
  app.register(async (page) => {
    page.removeContentTypeParser('text/plain');
    page.addHook('onRequest', async (request, reply) => {
      reply.headers(HEADERS);
      const refusal = refusalOf(request);
      if (refusal !== null) return reply.status(403).send({ error: refusal });
    });
    page.setErrorHandler(presentError);
    addFiles(page);
    addReads(page, context);
    addActs(page, context);
    addMedia(page, context.simulator);
    page.get('/simulator/docs', (request, reply) =>
      reply.redirect(docsUrl(hostnameOf(`http://${request.headers.host}`) as string)),
    );
  });
}

/** The reason to refuse a request; null: the request is allowed. */
function refusalOf({ method, headers, ip }: FastifyRequest): string | null {
  // A connection that is already closed has no address.
  if (!isLoopbackAddress(ip ?? '')) return 'this page is for this machine alone';
  const host = hostnameOf(`http://${headers.host}`);
  if (host === null || !isLoopback(host)) return 'open this page as localhost';
  if (method === 'GET' || method === 'HEAD') return null;
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers;
  // Only hosts are compared, because a proxy may change the scheme.
  const isOther =
    origin !== undefined &&
    (!URL.canParse(origin) || new URL(origin).host !== new URL(`http://${headers.host}`).host);
  // Some requests from another page have no Origin, so `Sec-Fetch-Site` is checked too. `none` means that the person
  // began the request.
  return isOther || !['same-origin', 'none'].includes(`${site}`)
    ? 'the request comes from another page'
    : null;
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
    const { phone = null, chat = null } = request.query;
    const body = JSON.stringify(await readChats(context, { phone, chat }));
    const tag = `"${hash('sha256', body, 'base64url')}"`;
    reply.header('ETag', tag);
    if (request.headers['if-none-match'] === tag) return reply.status(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
  page.get('/simulator/faults', async () => context.simulator.faults);
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
      return done ? {} : reply.status(404).send({ error: 'the phone has no such message or file' });
    });
  act('tap', ({ messageId, button }) => tapButton(context, messageId, button));
  act('choose', ({ replyId, choice }) => chooseInReply(context, replyId, choice));
  act('open', ({ messageId }) => openMessage(context, messageId));
  act('open-reply', ({ replyId }) => openReply(context, replyId));
  act('file', ({ phone, ...file }) => sendFile(context, phone, file));
  act('made-up', ({ phone, what }) => sendMadeUp(context, phone, what));
  const always = <Name extends FormName>(name: Name, run: (body: Form<Name>) => Promise<void> | void) =>
    act(name, async (body) => {
      await run(body);
      return true;
    });
  // Only this phone is typed by a person.
  always('text', ({ phone, body }) => writeText(context, knownPhone(phone) ?? phone, body));
  always('other', ({ phone, what }) => sendOther(context, phone, what));
  always('window', ({ phone, isOver }) => setWindow(context, phone, isOver));
  always('release', ({ messageId }) => releaseWaiting(context, messageId));
  always('faults', (faults) => {
    context.simulator.faults = faults;
  });
}

/** Keeps the status of Fastify's refusal, but not its text, which may repeat the request. */
async function presentError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply) {
  const status = error.statusCode ?? 500;
  if (status >= 500) return reply.status(500).send({ error: 'temporary internal error; retry' });
  const words = { 413: 'the body is too long', 415: 'the content type must be application/json' };
  return reply.status(status).send({ error: words[status as keyof typeof words] ?? 'the body must be JSON' });
}

// Last part: sends files from the page.

/** A file as its sender names it. */
interface SentFile {
  readonly mediaId: string;
  readonly media: MediaKind;
  /** Pictures and voice messages have no name. */
  readonly filename: string | null;
  readonly caption: string | null;
}

/** Sends a file that the simulator keeps. Returns false if there is no such file. */
async function sendFile(
  context: SimulatorContext,
  phone: Phone,
  { mediaId, media, filename, caption }: SentFile,
): Promise<boolean> {
  const file = context.simulator.files.get(mediaId);
  if (file === null) return false;
  const shown = { mediaId, filename: filename ?? file.filename };
  const said = await saidNow(context, phone, { text: caption ?? '', file: shown });
  const { messageId, at } = said;
  await context.simulator.say(said, {
    kind: 'file',
    from: phone,
    messageId,
    at,
    media,
    mediaId,
    filename,
    caption,
    claimedType: file.contentType,
    claimedSha256: hash('sha256', file.bytes, 'hex'),
    contextMessageId: null,
  });
  return true;
}

/** Makes up a file for the newest application of a phone and sends it. Returns false if the phone has none. */
async function sendMadeUp(context: SimulatorContext, phone: Phone, what: MadeUp): Promise<boolean> {
  const { database, vault, simulator } = context;
  const phones = [phoneIndexOf(vault, phone)];
  for await (const { id } of searchApplications(database, vault, { phones })) {
    const owner = (await readOwners(database, vault, [toApplicationId(id)]))[0];
    if (owner === undefined) return false;
    const { media, ...file } = madeUpFile(what, owner, await now(context));
    const filename = media === 'document' ? file.filename : null;
    return sendFile(context, phone, { mediaId: simulator.files.keep(file), media, filename, caption: null });
  }
  return false;
}
