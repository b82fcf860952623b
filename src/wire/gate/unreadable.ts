/** The answer to a request that Node's HTTP parser refused, and the headers of every answer. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { languageOfHeader } from '../contract/language.ts';
import { type RequestProblem, requestStatus, requestText } from '../contract/texts.ts';
import { unknownMethodOf } from './unknown-method.ts';

/** Headers of every answer but the documentation's: no cache may keep it, and no browser may guess another type. */
export const SECURITY_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/**
 * Answers a request that Node's HTTP parser refused, where the socket still takes an answer. `problemAt` tells the
 * problem of a request whose method the parser does not know; without `problemAt` it is `bad_request`.
 */
export function presentUnreadable(
  error: Error & { code?: string },
  socket: Socket,
  problemAt?: (target: string) => RequestProblem,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const unknown = unknownMethodOf(error);
  const problem = (unknown && problemAt?.(unknown.target)) ?? 'bad_request';
  const status = requestStatus(problem);
  const body = JSON.stringify({ error: requestText(problem, languageOfHeader(unknown?.acceptLanguage)) });
  const headers = {
    ...allowHeader(problem),
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
    ...SECURITY_HEADERS,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // Do not wait for a client that does not read the answer.
  socket.setTimeout(1_000, () => socket.destroy());
}

/** The headers of an answer to a method that its path does not take. */
export function allowHeader(problem: RequestProblem): Record<string, string> {
  if (problem === 'method_not_allowed') return { Allow: 'GET, POST' };
  return problem === 'only_get' ? { Allow: 'GET' } : {};
}
