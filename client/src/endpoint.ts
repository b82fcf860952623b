/** Where a client sends, checked before anything is sent. */
import type { ClientOptions } from './options.ts';
import type { Endpoint } from './request.ts';

/** The longest that a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The options with their defaults. Throws `TypeError` or `RangeError` for one that cannot be meant. */
export function endpointOf(options: ClientOptions): Endpoint {
  const { url, apiKey, fetch = globalThis.fetch, retries = 6, timeoutMs = 15_000 } = options;
  const { insecureHttp = false } = options;
  checkApiKey(apiKey);
  return {
    url: checkUrl(url, insecureHttp),
    apiKey,
    fetch,
    retries: checkInteger('retries', retries, 0),
    timeoutMs: checkInteger('timeoutMs', timeoutMs, 1, MAX_TIMER_MS),
  };
}

/** Never quotes it: an error of the platform's about a header would. */
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
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new TypeError('url must have neither a user, a password nor a fragment');
  }
  if (isReadable(url) && !insecureHttp) {
    throw new TypeError(
      'url must begin with https://, or everybody on the way can read the API key and the applicants; insecureHttp allows it all the same',
    );
  }
  return url.href;
}

/** True where others can read what is sent: http:// to a host that is not this machine. */
export function isReadable({ protocol, hostname }: URL): boolean {
  // The URL has its host in normal form: 127.1 is 127.0.0.1 by now, and no name looks like an address.
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
