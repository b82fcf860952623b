/** Recognises requests that Node's HTTP parser refuses for their method, because D1 answers them with 405. */
import { METHODS } from 'node:http';

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
export function unknownMethodOf(
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
