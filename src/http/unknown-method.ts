/** Requests that Node's HTTP parser does not hand on for their method: they are HTTP all the same (D1). */
import { METHODS } from 'node:http';

/** What of such a request decides its answer. */
export interface UnknownMethod {
  readonly target: string;
  readonly acceptLanguage: string | undefined;
}

/** A CONNECT, which Node hands on apart: nobody opens tunnels here. */
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

/** The request that failed by its method; null where the bytes that the parser was given begin no request. */
export function unknownMethodOf(
  error: Error & { readonly code?: string; readonly rawPacket?: Buffer },
): UnknownMethod | null {
  if (error instanceof TunnelError) return error;
  if (error.code !== 'HPE_INVALID_METHOD' || error.rawPacket === undefined) return null;
  const [head = ''] = error.rawPacket.toString('latin1').split('\r\n\r\n', 1);
  const [, method = '', target] = REQUEST_LINE.exec(`${head}\r\n`) ?? [];
  // After a method that the parser knows, the trouble is with what follows this request.
  if (target === undefined || METHODS.includes(method)) return null;
  return { target, acceptLanguage: ACCEPT_LANGUAGE.exec(`${head}\r\n`)?.[1]?.trim() };
}
