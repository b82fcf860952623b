/**
 * An S3-compatible store as the place of backups: Amazon's, or one that speaks the same protocol (path-style
 * addresses).
 */
import { AwsClient } from 'aws4fetch';
import { SaxesParser } from 'saxes';
import { describeError } from '../../base/describe-error.ts';
import { BackupError } from '../errors.ts';
import type { Place } from './place.ts';

/** The account, by the names of the standard variables. */
export interface S3Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Without a slash at its end; undefined: Amazon's. */
  readonly endpoint: string | undefined;
}

/** The largest object has about 8 MiB. */
const TIMEOUT_MS = 60_000;
/** A connection that breaks, or an answer from 500 on, is tried again so many times. */
const RETRIES = 4;
const DELETES_AT_ONCE = 8;

interface Page {
  readonly names: readonly string[];
  /** undefined: the last page. */
  readonly next: string | undefined;
}

export class S3 implements Place {
  readonly address: string;
  readonly #aws: AwsClient;
  readonly #bucket: string;
  /** Empty, or ends with a slash. */
  readonly #prefix: string;

  /** `address` is `s3://bucket/prefix`; the prefix may be absent. */
  constructor(address: string, { accessKeyId, secretAccessKey, region, endpoint }: S3Account) {
    const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(address) ?? [];
    this.address = address;
    this.#aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: RETRIES });
    this.#bucket = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}`;
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  }

  async put(name: string, object: Buffer): Promise<void> {
    await this.#send('PUT', this.#urlOf(name), object);
  }

  async get(name: string): Promise<Buffer | undefined> {
    const response = await this.#send('GET', this.#urlOf(name));
    return response?.body;
  }

  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const query = new URLSearchParams({ 'list-type': '2', prefix: this.#prefix + prefix });
      if (token !== undefined) query.set('continuation-token', token);
      const response = await this.#send('GET', `${this.#bucket}?${query}`);
      if (response === undefined) throw this.#failure('there is no such bucket');
      const page = readPage(response.body.toString());
      names.push(...page.names.map((name) => name.slice(this.#prefix.length)));
      token = page.next;
    } while (token !== undefined);
    return names.sort();
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

  /** undefined: there is no such object. */
  async #send(method: string, url: string, body?: Buffer): Promise<{ readonly body: Buffer } | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const response = await this.#aws.fetch(url, {
          method,
          signal,
          ...(body && { body: new Uint8Array(body) }),
        });
        const answer = Buffer.from(await response.arrayBuffer());
        if (response.ok) return { body: answer };
        if (response.status === 404 && method !== 'PUT') return undefined;
        const [, code = 'no reason'] = /<Code>(\w+)<\/Code>/.exec(answer.toString()) ?? [];
        throw this.#failure(`it answered ${response.status} (${code})`);
      } catch (error) {
        if (error instanceof BackupError) throw error;
        if (tries > RETRIES) throw this.#failure(describeError(error));
      }
    }
  }

  #failure(why: string): BackupError {
    return new BackupError(
      `the place of the backups, ${this.address}, fails: ${why}; look at the bucket, AWS_ENDPOINT_URL_S3, AWS_REGION and the rights of AWS_ACCESS_KEY_ID`,
    );
  }
}

/** Reads an answer to ListObjectsV2. */
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
