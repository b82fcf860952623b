/** HTTP by the byte: sends requests that fetch refuses, and returns answers as received. */
import { connect } from 'node:net';
import { giveUpAfter, PATIENCE_MS, pause } from '../support/eventually.ts';

export interface RawAnswer {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly answers: readonly RawAnswer[];
  /** The server closed the connection first. */
  readonly closed: boolean;
  readonly ms: number;
}

export interface ExchangeOptions {
  /** Ends after this many answers. Interim answers (1xx) do not count. */
  readonly answers?: number;
  /** For a request that gets no answer, or too few. */
  readonly timeoutMs?: number;
  /** Closes our side after the last part. */
  readonly end?: boolean;
  /** Destroys the connection after the last part instead of waiting for an answer. */
  readonly abort?: boolean;
}

type Part = string | Uint8Array | number;

/** Sends the parts one after the other (a number is a pause in milliseconds) and collects the answers. */
export function exchange(
  url: string,
  parts: readonly Part[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { answers: wanted = 1, timeoutMs = PATIENCE_MS, end = false, abort = false } = options;
  const { hostname, port } = new URL(url);
  const start = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let received = Buffer.alloc(0);
    let done = false;
    const finish = (closed: boolean) => {
      if (done) return;
      done = true;
      cancel();
      socket.destroy();
      resolve({ answers: parseAnswers(received), closed, ms: performance.now() - start });
    };
    const cancel = giveUpAfter(timeoutMs, () => finish(false));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (parseAnswers(received).filter(({ status }) => status >= 200).length >= wanted) finish(false);
    });
    socket.on('end', () => finish(true));
    socket.on('close', () => finish(true));
    // A reset closes the connection too; 'close' follows.
    socket.on('error', () => {});
    void (async () => {
      for (const part of parts) {
        if (done) return;
        if (typeof part === 'number') await pause(part);
        else await new Promise((sent) => socket.write(part, sent));
      }
      if (abort) {
        await pause(20);
        finish(false);
      } else if (end && !done) socket.end();
    })();
  });
}

/** The complete answers at the front of the bytes. An answer to HEAD is complete where nothing follows. */
function parseAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return answers;
    const [first = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const status = Number(first.split(' ')[1]);
    const chunked = headers['transfer-encoding'] === 'chunked';
    // The service sends no chunks. An answer that Node or Fastify makes itself has only the last chunk.
    const length = chunked ? '0\r\n\r\n'.length : Number(headers['content-length'] ?? 0);
    const body = rest.subarray(headEnd + 4, headEnd + 4 + length);
    if (body.length < length) return answers;
    answers.push({ status, headers, body: body.toString('utf8') });
    rest = rest.subarray(headEnd + 4 + length);
  }
}

/** The head of a request. The caller adds the body. */
export function head(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>> = {},
): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
