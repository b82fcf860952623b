/**
 * Sends one push over kept connections, to public addresses alone (README.md, "Addresses"; docs/events.md, "Where the
 * service connects to"). Uses the network and name servers.
 */
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Clock } from '../../../../ground/base/clock.ts';
import type { EndpointHosts } from '../rules/endpoint-hosts.ts';
import { addressIn, isExcepted, mayBePublic } from '../rules/endpoint-url.ts';
import type { OwnFailure, PushFailure } from '../rules/failures.ts';
import { isPublicAddress } from '../rules/public-address.ts';

// What pushes name as their sender.

const { version } = JSON.parse(readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8'));

const USER_AGENT = `Ventanilla/${version}`;

// The first part: looks up the addresses of a host for the connection that uses them, and refuses those that are not
// public.

/** All addresses of a name. */
type Resolve = (name: string) => Promise<string[]>;

/** The failure of a name with an address that is not public. */
const PRIVATE_ADDRESS = 'private_address' satisfies OwnFailure;
/** The failure of a look-up without an answer. */
const NAME_SERVERS = 'name_servers' satisfies OwnFailure;

const NO_SUCH_NAME: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

const ATTEMPT_MS = 2_000;
const ATTEMPTS = 2;

/**
 * Asks the name servers. The system's own look-up is not used: it runs in four threads that the whole process shares,
 * so that the slow name server of one partner would hold up every other.
 */
function systemResolver(): Resolve {
  return bothFamilies(new Resolver({ timeout: ATTEMPT_MS, tries: ATTEMPTS }));
}

/** The IPv4 and the IPv6 addresses of a name, those of IPv4 first. One of the two answers is enough. */
export function bothFamilies(resolver: Pick<Resolver, 'resolve4' | 'resolve6'>): Resolve {
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0 && first.status === 'rejected') throw first.reason;
    return addresses;
  };
}

/**
 * A look-up for `net.connect`, which connects only to the addresses that it gets here. A name fails as a whole if one
 * of its addresses is not public: its owner is mistaken, or tries to reach this network.
 */
function publicLookup(resolve: Resolve): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        if (addresses.length === 0) return callback(coded('ENOTFOUND'), '');
        if (!addresses.every(isPublicAddress)) return callback(coded(PRIVATE_ADDRESS), '');
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        if (options.all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      ({ code }: NodeJS.ErrnoException) =>
        callback(coded(NO_SUCH_NAME.has(code) ? 'ENOTFOUND' : NAME_SERVERS), ''),
    );
  };
}

function coded(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/** One request to an endpoint. */
interface PushRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of a push. */
export type PushResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: PushFailure; readonly isGone: boolean };

export interface PushSender {
  /** Never rejects. Resolves within the time limit, or at once if the signal aborts. */
  send(push: PushRequest, signal: AbortSignal): Promise<PushResult>;
  /** Closes the kept connections. */
  close(): void;
}

export interface SenderOptions {
  readonly hosts: EndpointHosts;
  readonly clock: Clock;
  /** From the call to the head of the answer. */
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  /** Certificates of authorities instead of the built-in ones. */
  readonly ca?: string;
}

const TIMEOUT_MS = 10_000;
/** Closes idle connections before most servers do, so that no request meets the server's close. */
const IDLE_MS = 4_000;
/**
 * How much of an answer's body is read so that its connection can be kept. If the body has more, or takes longer, the
 * connection is closed.
 */
const MAX_BODY_BYTES = 4_096;
const MAX_BODY_MS = 1_000;

/** Interim answers (100 to 199) before an answer. A flood of them would stop all other work of the event loop. */
const MAX_INTERIM_ANSWERS = 10;

/** Makes a sender. It follows no redirect, uses no proxy, and reads only an answer's status. */
export function pushSender({
  hosts,
  clock,
  timeoutMs = TIMEOUT_MS,
  resolve = systemResolver(),
  ca,
}: SenderOptions): PushSender {
  const lookup = publicLookup(resolve);
  const kept = { keepAlive: true, timeout: IDLE_MS };
  // Set here too, because NODE_TLS_REJECT_UNAUTHORIZED could switch the check off for the whole process.
  const tls = new https.Agent({ ...kept, rejectUnauthorized: true, ...(ca !== undefined && { ca }) });
  const plain = new http.Agent(kept);

  const open = ({ url, headers, body }: PushRequest): ClientRequest => {
    const options = {
      method: 'POST',
      headers: {
        ...headers,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'User-Agent': USER_AGENT,
      },
      ...(!isExcepted(hosts, url) && { lookup }),
    };
    return url.protocol === 'https:'
      ? https.request(url, { ...options, agent: tls })
      : http.request(url, { ...options, agent: plain });
  };

  return {
    send: (push, signal) =>
      new Promise((done) => {
        if (signal.aborted) return done(failed('aborted'));
        const { url } = push;
        // Checked here, because `net.connect` does not look up an address that is in the URL itself.
        const excepted = isExcepted(hosts, url);
        if (!excepted && addressIn(url) !== null && !mayBePublic(url)) return done(failed(PRIVATE_ADDRESS));
        if (!excepted && url.protocol !== 'https:') return done(failed('not_https'));
        let request: ClientRequest | undefined;
        let isSettled = false;
        const settle = (result: PushResult) => {
          isSettled = true;
          timer.cancel();
          signal.removeEventListener('abort', abort);
          done(result);
        };
        const giveUp = (failure: OwnFailure) => {
          settle(failed(failure));
          request?.destroy();
        };
        const abort = () => giveUp('aborted');
        const timer = clock.after(timeoutMs, () => giveUp('timeout'));
        signal.addEventListener('abort', abort, { once: true });
        const attempt = (isFirst: boolean) => {
          const current = open(push);
          request = current;
          current.on('error', (error: NodeJS.ErrnoException) => {
            // The endpoint closed the kept connection at the same moment: that says nothing about the endpoint. A
            // request that was cancelled has the same error.
            if (isFirst && !isSettled && current.reusedSocket && error.code === 'ECONNRESET')
              return attempt(false);
            settle(failed(codeOf(error)));
          });
          current.on('close', () => {
            if (request === current) settle(failed('connection_closed'));
          });
          let interim = 0;
          current.on('information', () => {
            interim += 1;
            if (interim > MAX_INTERIM_ANSWERS) giveUp('interim_answers');
          });
          current.on('response', (response) => {
            settle(resultOf(response.statusCode ?? 0));
            drain(response, clock);
          });
          current.end(push.body);
        };
        attempt(true);
      }),
    close: () => {
      tls.destroy();
      plain.destroy();
    },
  };
}

function resultOf(status: number): PushResult {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  return { kind: 'failed', failure: `status_${status}`, isGone: status === 410 };
}

function failed(failure: PushFailure): PushResult {
  return { kind: 'failed', failure, isGone: false };
}

/** Reads a short body to its end, which keeps the connection, and closes the connection of any other. */
function drain(response: IncomingMessage, clock: Clock): void {
  let bytes = 0;
  const enough = clock.after(MAX_BODY_MS, () => response.destroy());
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) response.destroy();
  });
  response.on('error', () => {});
  response.on('close', () => enough.cancel());
}

/** The code of the system, of TLS or of the look-up. Never the message, because it has the address. */
function codeOf({ code = '' }: NodeJS.ErrnoException): PushFailure {
  return /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(code) ? (code as PushFailure) : 'no_connection';
}
