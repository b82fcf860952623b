/** A browser without a page: it keeps cookies by host and port, and follows redirects. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

export class CookieBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  /** The cookies of an origin. A test may read, plant and take away. */
  jar(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    return jar;
  }

  /** One request, whose answer's cookies are kept. */
  async send(
    method: string,
    address: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ) {
    const { body, headers = {} } = options;
    const jar = this.jar(new URL(address).origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    // `fetch` would say of itself that it is no navigation.
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const sent = request(address, {
      method,
      headers: {
        ...(cookie !== '' && { Cookie: cookie }),
        ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
        ...headers,
      },
    }).end(bytes);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const setCookies = response.headers['set-cookie'] ?? [];
    for (const line of setCookies) {
      const [pair = ''] = line.split(';', 1);
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === '' || /expires=Thu, 01 Jan 1970|max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const { location } = response.headers;
    return {
      ...{ status: response.statusCode!, text: await readText(response), setCookies },
      location: location === undefined ? null : new URL(location, address).href,
    };
  }

  /** Follows a link of another site and its redirects, until an address begins with `until` or nothing leads on. */
  async follow(address: string, until: string): Promise<string> {
    let at = address;
    for (let i = 0; i < 10 && !at.startsWith(until); i += 1) {
      const { location } = await this.send('GET', at, { headers: LINK });
      if (location === null) break;
      at = location;
    }
    return at;
  }
}

/** What a browser sends where a page of another site leads it here. */
export const LINK = {
  'Sec-Fetch-Site': 'cross-site',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Dest': 'document',
};
