/**
 * Reads ENDPOINT_HOSTS: hosts of partners' endpoints that may be private or without TLS (D41; docs/events.md, "Where
 * the service connects to"). Pure.
 */
import type { Setting } from '../../../../ground/base/setting.ts';

/**
 * Hosts that an operator trusts although they are private or without TLS: `host` or `host:port`, as a URL has them.
 */
export type EndpointHosts = ReadonlySet<string>;

const HOST = /^(\[[\da-f:.]+\]|(?!\.)[^\s:/?#@[\]*]+)(?::(\d{1,5}))?$/i;

/** Absent: no host is excepted. */
export const ENDPOINT_HOSTS: Setting<EndpointHosts> = {
  variable: 'ENDPOINT_HOSTS',
  read: (text) => (text === undefined ? new Set() : readEndpointHosts(text)),
};

/** Reads hosts joined by commas. Throws a RangeError with the rule. */
export function readEndpointHosts(text: string): EndpointHosts {
  return new Set(text.split(',').map((item) => readHost(item.trim())));
}

function readHost(text: string): string {
  const [, host, port] = HOST.exec(text) ?? [];
  const url = host === undefined ? null : URL.parse(`https://${host}`);
  if (url === null || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    throw new RangeError(
      'must be hosts joined by commas, each with or without a port, and no patterns: hooks.internal,[::1]:8443',
    );
  }
  return port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`;
}
