/** Checks where a client sends, before anything is sent. */
import { machineClock } from './clock.ts';
import type { ClientOptions } from './options.ts';
import type { Endpoint } from './request.ts';

/** The longest that a timer can be set to. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The options with their defaults. Throws `TypeError` or `RangeError` for an invalid option. */
export function endpointOf(options: ClientOptions): Endpoint {
  const { url, apiKey, fetch = globalThis.fetch, retries = 6, timeoutMs = 15_000 } = options;
  const { insecureHttp = false, clock = machineClock } = options;
  checkApiKey(apiKey);
  return {
    url: checkUrl(url, insecureHttp),
    apiKey,
    fetch,
    retries: checkInteger('retries', retries, 0),
    timeoutMs: checkInteger('timeoutMs', timeoutMs, 1, MAX_TIMER_MS),
    clock,
  };
}

/** Never quotes the key. The platform's own error about a header would. */
function checkApiKey(apiKey: string): void {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be the key as it was issued, without spaces');
  }
}

function checkUrl(text: string, insecureHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('url must be the whole URL of an environment, such as https://host/PRO');
  }
  if (!/\/(PRO|DEV)\/?$/.test(url.pathname)) {
    throw new TypeError('url must end in /PRO or /DEV, such as https://host/PRO');
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new TypeError('url must have neither a user, a password nor a fragment');
  }
  if (isReadable(url) && !insecureHttp) {
    throw new TypeError(
      'url must begin with https://, or everybody on the way can read the API key and the applicants; insecureHttp allows http://',
    );
  }
  return url.href;
}

/** True where others can read the requests: http:// to a host that is not this machine. */
export function isReadable({ protocol, hostname }: URL): boolean {
  // The host is in normal form here: 127.1 is already 127.0.0.1, and no name looks like an address.
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

/** The value. Throws `RangeError` where it is not a whole number within the bounds. */
export function checkInteger(
  name: string,
  value: number,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}
