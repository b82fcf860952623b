/** The service that gets the file, reached through parts of the partners' client. */
import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { endpointOf, isReadable } from '../../../../client/src/endpoint.ts';
import { VentanillaError } from '../../../../client/src/errors.ts';
import type { Fetch, FetchResponse, Outcome, Quota } from '../../../../client/src/index.ts';
import { readQuota } from '../../../../client/src/read-answer.ts';
import { type Endpoint, request } from '../../../../client/src/request.ts';
import { type BatchToSend, sendBatch } from '../../../../client/src/send-batch.ts';
import type { Clock } from '../../../../src/ground/base/clock.ts';
import { describeError } from '../../../../src/ground/base/describe-error.ts';
import { inEach, type Language } from '../../../../src/ground/base/language.ts';
import { ToldError } from '../../../../src/ground/base/told-error.ts';
import { BulkError } from '../read/bulk-error.ts';

// The part of `fetch` that the client needs, over node:http. With the platform's `fetch` one applicant takes a fifth
// more CPU, and 10,000 take half as much again. Connections are kept. No redirect is followed.

/** Interim answers (100 to 199) before an answer. Each one costs the process time. */
const MAX_INTERIM_ANSWERS = 10;

/** A `fetch` for one URL. Throws `TypeError` where the text is no URL. */
export function httpFetch(only: string): Fetch {
  const { request: open, Agent } = moduleFor(only);
  const to = { ...urlToHttpOptions(new URL(only)), agent: new Agent({ keepAlive: true }) };
  // Resolves with the head of the answer. Without an answer it rejects with the system's code.
  return (_url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      let interim = 0;
      if (signal.aborted) return reject(signal.reason);
      const length = body === null ? {} : { 'Content-Length': body.byteLength };
      const request = open({ ...to, method, headers: { ...headers, ...length } });
      signal.addEventListener('abort', () => request.destroy(signal.reason), { once: true });
      request.on('error', reject);
      // Some answers (101) end the connection without an error.
      request.on('close', reject);
      request.on('information', () => {
        interim += 1;
        if (interim > MAX_INTERIM_ANSWERS) request.destroy(new Error('too many interim answers'));
      });
      request.on('response', (response) => resolve(responseOf(response)));
      request.end(body ?? undefined);
    });
}

/** Avoids `import`, which reads every export of node:http; one of them loads the platform's fetch. */
function moduleFor(url: string): Pick<typeof import('node:http'), 'request' | 'Agent'> {
  return process.getBuiltinModule(/^https:/i.test(url) ? 'node:https' : 'node:http');
}

function responseOf(response: IncomingMessage): FetchResponse {
  const { statusCode = 0, headers } = response;
  return {
    status: statusCode,
    type: 'default',
    headers: { get: (name) => headers[name.toLowerCase()]?.toString() ?? null },
    body: {
      getReader() {
        const pieces: AsyncIterator<Uint8Array, undefined> = response[Symbol.asyncIterator]();
        return { read: async () => await pieces.next() };
      },
    },
  };
}

export interface RemoteService {
  /** The environment's whole URL. */
  readonly url: string;
  /** Sends one request, with retries. Throws the client's errors. */
  submitBatch(batch: BatchToSend): Promise<Outcome[]>;
  quota(): Promise<Quota>;
}

/** Calls `onWait` with milliseconds and the reason before the client waits to repeat a failed request. */
export function openRemoteService(
  url: string,
  apiKey: string,
  { clock, onWait }: { readonly clock: Clock; readonly onWait: (delayMs: number, reason: string) => void },
): RemoteService {
  const endpoint = endpointFor(url, apiKey, clock);
  return {
    url,
    submitBatch: (batch) =>
      sendBatch(endpoint, batch, { onRetry: ({ delayMs, error }) => onWait(delayMs, error.message) }),
    quota: () => request(endpoint, { read: readQuota }, {}),
  };
}

function endpointFor(url: string, apiKey: string, clock: Clock): Endpoint {
  try {
    // `environmentUrl` has checked the URL already, with texts of the command line.
    return endpointOf({ url, apiKey, fetch: httpFetch(url), insecureHttp: true, clock });
  } catch (error) {
    // The client refuses a wrong URL or key with this error alone.
    if (!(error instanceof TypeError)) throw error;
    throw new BulkError(inEach(() => describeError(error)));
  }
}

/**
 * The URL of the environment. `--url` is that URL or the service's base URL. Throws `BulkError`, also where others
 * could read the requests and `insecureHttp` does not allow that.
 */
export function environmentUrl(
  text: string,
  { sandbox, insecureHttp }: { readonly sandbox: boolean; readonly insecureHttp: boolean },
): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new BulkError({
      en: '--url must be a URL that begins with https://, such as https://host/PRO',
      es: '--url debe ser una URL que empiece con https://, por ejemplo https://host/PRO',
    });
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new BulkError({
      en: '--url must have neither a user, a password nor a fragment',
      es: '--url no debe tener usuario, contraseña ni fragmento',
    });
  if (isReadable(url) && !insecureHttp) {
    throw new BulkError({
      en: '--url must begin with https://, or everybody on the way can read the API key and the applicants. --insecure-http allows http://',
      es: '--url debe empezar con https://, o cualquiera en el camino puede leer la API key y los solicitantes. --insecure-http permite http://',
    });
  }
  const segments = url.pathname.split('/').filter(Boolean);
  const last = segments.at(-1);
  if (last === 'DEV' && !sandbox)
    throw new BulkError({
      en: '--url ends in /DEV, the sandbox: add --sandbox',
      es: '--url termina en /DEV, el entorno de pruebas: agrega --sandbox',
    });
  if (last === 'PRO' || last === 'DEV') segments.pop();
  url.pathname = `/${[...segments, sandbox ? 'DEV' : 'PRO'].join('/')}`;
  return url.href;
}

// The errors of the partners' client, as the command line tells them from its own.

/** The texts of the client in Spanish. Of other texts the client's own English stands. */
const IN_SPANISH: readonly (readonly [english: RegExp, spanish: string])[] = [
  [/^the service refused the API key: /, 'el servicio rechazó la API key: '],
  [/^the service refused the request: /, 'el servicio rechazó la solicitud: '],
  [/^the service cannot answer now: /, 'el servicio no puede responder ahora: '],
  [/^the service answered (\d+), not 200/, 'el servicio respondió $1, no 200'],
  [/^no answer within (\d+) ms/, 'no hubo respuesta en $1 ms'],
  [/^no answer(?= \(|$)/, 'no hubo respuesta'],
  [/^the URL redirects: .*/, 'la URL redirige a otra: usa esa otra en --url'],
  [/^the answer is not JSON: .*/, 'la respuesta no es JSON: ¿es esta la URL del servicio?'],
  [
    /^the answer is longer than (\d+) .*/,
    'la respuesta tiene más de $1 bytes: ¿es esta la URL del servicio?',
  ],
];

/** The text of the client's error. */
export function textOfClient(message: string, language: Language): string {
  const found = language === 'es' ? IN_SPANISH.find(([english]) => english.test(message)) : undefined;
  return found === undefined ? message : message.replace(found[0], found[1]);
}

/**
 * Resolves as `work` does. Throws `ToldError` where the service refused the request, did not answer, or could not be
 * reached: then neither the command nor the program is wrong.
 */
export async function tellingOfService<T>(work: Promise<T>, language: Language): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof VentanillaError)) throw error;
    throw new ToldError(textOfClient(describeError(error), language), { cause: error });
  }
}
