/**
 * Refuses requests that a page of another site makes a browser send, also to routes that only read. `CONSOLE_URL` says
 * which site is ours, and no header of the request does: so a name that leads to this machine gains nothing (DNS
 * rebinding).
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../ground/base/loopback.ts';

/** Why a request is refused; null: it is not. A program that is no browser sends none of these headers. */
export function refusalOfSite(headers: IncomingHttpHeaders, origin: string): string | null {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return `the request comes from another site: open ${origin}`;
  }
  if (headers.origin !== undefined && headers.origin !== origin) {
    return `the request comes from another site: open ${origin}`;
  }
  return null;
}

/**
 * Whether a browser asks for the console of `localhost` by an address of this machine. The requests of a page that is
 * opened so are those of another site.
 */
export function isByAddress({ host = '' }: IncomingHttpHeaders, origin: string): boolean {
  const own = new URL(origin);
  if (own.hostname !== 'localhost' || host === own.host || !URL.canParse(`http://${host}`)) return false;
  const asked = new URL(`http://${host}`);
  return isLoopback(asked.hostname) && asked.port === own.port;
}
