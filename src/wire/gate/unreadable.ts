/**
 * Answers a request that Node's HTTP parser refused (D1), and has the headers of every answer (contract, "Headers").
 * Writes to the socket.
 */
import { METHODS, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { languageOfHeader, type RequestProblem, requestStatus, requestText } from '../contract/texts.ts';

// Recognises requests that Node's HTTP parser refuses for their method, because D1 answers them with 405.

/** The parts of such a request that decide its answer. */
interface UnknownMethod {
  readonly target: string;
  readonly acceptLanguage: string | undefined;
}

/** A CONNECT, which Node passes on in an event of its own. The service opens no tunnels. */
export class TunnelError extends Error implements UnknownMethod {
  readonly target: string;
  readonly acceptLanguage: string | undefined;

  constructor(target: string, acceptLanguage: string | undefined) {
    super('CONNECT');
    this.target = target;
    this.acceptLanguage = acceptLanguage;
  }
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/1\.[01]\r\n/;
const ACCEPT_LANGUAGE = /\r\naccept-language:(.*)\r\n/i;

/** Reads the request that failed for its method; null where the parser's bytes do not begin with a request. */
function unknownMethodOf(
  error: Error & { readonly code?: string; readonly rawPacket?: Buffer },
): UnknownMethod | null {
  if (error instanceof TunnelError) return error;
  if (error.code !== 'HPE_INVALID_METHOD' || error.rawPacket === undefined) return null;
  const [head = ''] = error.rawPacket.toString('latin1').split('\r\n\r\n', 1);
  const [, method = '', target] = REQUEST_LINE.exec(`${head}\r\n`) ?? [];
  // Where the parser knows the method, the fault is in the bytes after this request.
  if (target === undefined || METHODS.includes(method)) return null;
  return { target, acceptLanguage: ACCEPT_LANGUAGE.exec(`${head}\r\n`)?.[1]?.trim() };
}

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
