/**
 * Reads the address of the virus scanner, clamd: `host:port`, or a socket's path (docs/documents.md, "The store").
 * Pure.
 */

/** Where clamd listens. */
export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number };

const PORT = /^(?:\[([0-9a-fA-F:]+)\]|([^:/[\]]+)):(\d{1,5})$/;

/** Reads `host:port` or the absolute path of a socket. Throws a RangeError with the rule. */
export function readClamdAddress(text: string): ClamdAddress {
  if (text.startsWith('/')) return { path: text };
  const [, six, host = six, port] = PORT.exec(text) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new RangeError('must be host:port, or the absolute path of a socket');
  }
  return { host, port: Number(port) };
}
