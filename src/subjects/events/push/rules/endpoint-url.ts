/**
 * Decides which URLs may be an endpoint of a partner (D41; docs/events.md, "Where the service connects to"). Pure:
 * looks up no name.
 */
import type { EndpointHosts } from './endpoint-hosts.ts';
import { isPublicAddress } from './public-address.ts';

const MAX_LENGTH = 2_000;

/** Whether an operator allows the URL's host and port to be private and without TLS. */
export function isExcepted(hosts: EndpointHosts, { hostname, port, protocol }: URL): boolean {
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return hosts.has(hostname) || hosts.has(`${hostname}:${ownPort}`);
}

/**
 * Reads the URL of an endpoint. A host that is a name is not looked up: its addresses are checked at each connection.
 * Throws a RangeError with the rule, never with the text, which may hold a secret.
 */
export function readEndpointUrl(text: string, hosts: EndpointHosts): URL {
  if (text.length > MAX_LENGTH) throw new RangeError(`the URL must have at most ${MAX_LENGTH} characters`);
  const url = URL.parse(text.trim());
  if (url === null || url.hostname === '') {
    throw new RangeError('the URL must be complete, such as https://partner.example/events');
  }
  if (url.username !== '' || url.password !== '') {
    throw new RangeError(
      'the URL must have no user and no password: a secret may be in its path or its query',
    );
  }
  const excepted = isExcepted(hosts, url);
  if (url.protocol !== 'https:' && !(excepted && url.protocol === 'http:')) {
    throw new RangeError('the URL must begin with https:// (http only for a host of ENDPOINT_HOSTS)');
  }
  if (!excepted && !mayBePublic(url)) {
    throw new RangeError(
      'the host of the URL is not public: the service pushes into private networks only where ENDPOINT_HOSTS names the host',
    );
  }
  url.hash = '';
  return url;
}

/** False for a private address in the URL itself and for names of this machine. */
export function mayBePublic(url: URL): boolean {
  const address = addressIn(url);
  if (address !== null) return isPublicAddress(address);
  return !/(^|\.)localhost\.?$/.test(url.hostname);
}

/**
 * The IP address that a URL has as its host; null for a name. A URL writes every form of an IPv4 address as four
 * numbers.
 */
export function addressIn({ hostname }: URL): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^(\d+\.){3}\d+$/.test(hostname) ? hostname : null;
}
