/**
 * Stores objects in an S3-compatible store: Amazon's, or one with the same protocol (path-style addresses). Uses the
 * network. `place.ts` has the rules.
 */
import { AwsClient } from 'aws4fetch';
import { SaxesParser } from 'saxes';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import type { Place, PlaceUse } from './place.ts';

/** The account, by the names of the standard variables. */
export interface S3Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Without a slash at its end; undefined: Amazon's. */
  readonly endpoint: string | undefined;
}

/** For a request with its answer: the largest objects have some 20 MiB. */
const TIMEOUT_MS = 60_000;
/** A connection that breaks, or an answer from 500 on, is tried again so many times, after a rest that doubles. */
const RETRIES = 4;
const REST_MS = 50;
const DELETES_AT_ONCE = 8;
/** A page has a thousand names: five million objects. */
const MOST_PAGES = 5_000;

/** The body (undefined: there is no such object); or the reason of a failure, and whether it may pass. */
type Answer =
  | { readonly trouble: null; readonly body: Buffer | undefined }
  | { readonly trouble: string; readonly isPassing: boolean };

/** The form of the names of a place's objects. So a server that lists other names cannot have other objects removed. */
const OBJECT_NAME = /^[\w-]+\/[\w-]+$/;

export class S3 implements Place {
  readonly address: string;
  readonly #aws: AwsClient;
  readonly #bucket: string;
  /** Empty, or ends with a slash. */
  readonly #prefix: string;
  readonly #use: PlaceUse;
  readonly #clock: Clock;

  /** `address` is `s3://bucket/prefix`; the prefix may be absent. */
  constructor(
    address: string,
    { accessKeyId, secretAccessKey, region, endpoint }: S3Account,
    use: PlaceUse,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#use = use;
    const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(address) ?? [];
    this.address = address;
    this.#aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
    this.#bucket = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`;
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  }

  async put(name: string, object: Buffer): Promise<void> {
    await this.#send('PUT', this.#urlOf(name), object);
  }

  get(name: string): Promise<Buffer | undefined> {
    return this.#send('GET', this.#urlOf(name));
  }

  /** Names that no object has are left out, such as `../other`. */
  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    const tokens = new Set<string>();
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix + prefix });
      if (token !== undefined) query.set('continuation-token', token);
      const body = await this.#send('GET', `${this.#bucket}?${query}`);
      if (body === undefined) throw this.#failure('there is no such bucket');
      const page = this.#readPage(body.toString());
      const ours = page.names.filter((name) => name.startsWith(this.#prefix));
      names.push(
        ...ours.map((name) => name.slice(this.#prefix.length)).filter((name) => OBJECT_NAME.test(name)),
      );
      token = page.next;
      if (token !== undefined && (tokens.has(token) || tokens.size === MOST_PAGES)) {
        throw this.#failure('its list of objects does not end');
      }
      tokens.add(token ?? '');
    } while (token !== undefined);
    return names.sort();
  }

  async room(): Promise<null> {
    return null;
  }

  async remove(name: string): Promise<void> {
    await this.#send('DELETE', this.#urlOf(name));
  }

  async clear(folder: string): Promise<void> {
    const names = await this.list(`${folder}/`);
    while (names.length > 0) {
      await Promise.all(names.splice(0, DELETES_AT_ONCE).map((name) => this.remove(name)));
    }
  }

  #urlOf(name: string): string {
    return `${this.#bucket}/${this.#prefix}${name}`;
  }

  /** The body of the answer; undefined: there is no such object. */
  async #send(method: string, url: string, body?: Buffer): Promise<Buffer | undefined> {
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#ask(method, url, body);
      if (answer.trouble === null) return answer.body;
      if (!answer.isPassing || tries === RETRIES) throw this.#failure(answer.trouble);
      await this.#clock.sleep(REST_MS * 2 ** tries);
    }
  }

  /** Follows no redirection: a request with our signature goes to the endpoint alone. */
  async #ask(method: string, url: string, body: Buffer | undefined): Promise<Answer> {
    const parts: Uint8Array[] = [];
    let status: number;
    let isTooLarge: boolean;
    try {
      const response = await this.#aws.fetch(url, {
        method,
        redirect: 'manual',
        signal: this.#clock.timeout(TIMEOUT_MS),
        ...(body && { body: new Uint8Array(body) }),
      });
      status = response.status;
      let bytes = 0;
      for await (const part of response.body ?? []) {
        bytes += part.length;
        // Leaving the loop ends the connection.
        if (bytes > this.#use.mostBytes) break;
        parts.push(part);
      }
      isTooLarge = bytes > this.#use.mostBytes;
    } catch (error) {
      return { trouble: describeError(error), isPassing: true };
    }
    if (isTooLarge) throw this.#tooLarge();
    const answer = Buffer.concat(parts);
    if (status >= 200 && status < 300) return { trouble: null, body: answer };
    if (status === 404 && method !== 'PUT') return { trouble: null, body: undefined };
    const [, code = 'no reason'] = /<Code>(\w+)<\/Code>/.exec(answer.toString()) ?? [];
    return { trouble: `it answered ${status} (${code})`, isPassing: status >= 500 || status === 429 };
  }

  #readPage(text: string) {
    try {
      return readPage(text);
    } catch (error) {
      throw this.#failure(`its list of objects is no XML (${describeError(error)})`);
    }
  }

  #tooLarge(): Error {
    const { name, mostBytes, advice, unreadable } = this.#use;
    return unreadable(
      `${name}, ${this.address}, gives more than ${mostBytes} bytes for one object: ${advice}`,
    );
  }

  #failure(why: string): Error {
    return this.#use.failure(
      `${this.#use.name}, ${this.address}, fails: ${why}; look at the bucket, AWS_ENDPOINT_URL_S3, AWS_REGION and the rights of AWS_ACCESS_KEY_ID`,
    );
  }
}

// A page of an S3 store's list of objects.

interface Page {
  readonly names: readonly string[];
  /** undefined: the last page. */
  readonly next: string | undefined;
}

/** Reads an answer to ListObjectsV2. Throws an `Error` if it is not XML. */
function readPage(text: string): Page {
  const names: string[] = [];
  let next: string | undefined;
  const path: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => void path.push(name));
  parser.on('closetag', () => void path.pop());
  parser.on('text', (value) => {
    if (path.join('/') === 'ListBucketResult/Contents/Key') names.push(value);
    if (path.join('/') === 'ListBucketResult/NextContinuationToken') next = value;
  });
  parser.write(text).close();
  return { names, next };
}
