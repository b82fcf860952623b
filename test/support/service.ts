/** The whole service in this process, on a database of its own, and partners to call the service. */
import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { type Config, readConfig } from '../../src/app/config/config.ts';
import type { Environment, KeyId, PartnerId } from '../../src/domain/partner/credential.ts';
import type { Country } from '../../src/ground/base/country-data.ts';
import type { LanguageSetting } from '../../src/ground/base/language.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { type ApiKey, insertKey } from '../../src/subjects/partners/sql/api-keys.ts';
import { insertPartner, type Partner } from '../../src/subjects/partners/sql/partners.ts';
import { textOf } from '../../src/subjects/partners/uses/keys.ts';
import type { ListenerLimits } from '../../src/wire/gate/connections.ts';
import { GIG_APPLICANT } from './applicant.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { startPatiently, startWithoutUpkeep } from './start-patiently.ts';
import type { TestClock } from './test-clock.ts';

interface PartnerOptions {
  readonly country?: Country;
  readonly dailyCap?: number | null;
  readonly environment?: Environment | null;
  readonly language?: LanguageSetting;
  readonly templates?: Record<string, string>;
  readonly rejected_reasons?: boolean;
}

export interface TestService extends TestDatabase {
  /** Base URL without `/PRO`. */
  readonly url: string;
  readonly opsUrl: string;
  /** The URL for the runtime role. */
  readonly databaseUrl: string;
  /** Every log line so far. */
  readonly log: string[];
  /** A new partner with one key. */
  addPartner(options?: PartnerOptions): Promise<{ partnerId: PartnerId; keyId: KeyId; apiKey: string }>;
}

/**
 * Call this at the top of a test file. `environment` are variables as an operator would set them. `upkeep`: false for a
 * file that does the jobs of the upkeep itself. `limits`: for a file about a limit of connections or of time.
 * `isPatient`: false for a file about the limits of statements, sessions and requests that a real service has.
 * `clock`: the clock of the service, which has its real limits then: they are as long as the test makes them.
 */
export async function testService(
  environment: Record<string, string> = {},
  {
    upkeep = true,
    isPatient = true,
    clock,
    limits = isPatient && clock === undefined ? undefined : PARTNER_LIMITS,
  }: { upkeep?: boolean; isPatient?: boolean; clock?: TestClock; limits?: ListenerLimits } = {},
): Promise<TestService> {
  const store = { ...(await testDatabase({ isPatient })), ...(clock && { clock }) };
  const { database, vault, url: databaseUrl } = store;
  // Nothing is delivered unless a test asks for it: messages stay as the registration wrote them.
  const config: Config = { ...readConfig({ DELIVERY: 'off', ...environment }), port: 0, opsPort: 0 };
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const start = upkeep ? startPatiently : startWithoutUpkeep;
  const service = await start(config, store, log, limits);
  store.stopFirst(() => service.stop());
  return {
    ...store,
    databaseUrl,
    url: service.url,
    opsUrl: service.opsUrl,
    log: lines,
    addPartner: (options) => addPartner({ database, vault }, options),
  };
}

let partners = 0;

/** Stores a partner with one key. */
export async function addPartner(
  { database, vault }: Pick<TestDatabase, 'database' | 'vault'>,
  { country = 'CO', dailyCap = null, environment = null, language = 'auto', ...parts }: PartnerOptions = {},
): Promise<{ partnerId: PartnerId; keyId: KeyId; apiKey: string }> {
  const apiKey = formatApiKey(environment, randomBytes(SECRET_BYTES));
  const name = `Partner ${++partners}`;
  const { id: partnerId } = (await insertPartner(database, { name, country })) as Partner;
  const text = textOf(vault, apiKey);
  const { templates, rejected_reasons } = parts;
  const brand = {
    ...(templates !== undefined && { templates }),
    ...(rejected_reasons !== undefined && { rejected_reasons }),
  };
  const settings = { environment, language, dailyCap, brand };
  const { id: keyId } = (await insertKey(database, vault, partnerId, text, settings)) as ApiKey;
  return { partnerId, keyId, apiKey };
}

/**
 * The same as `post` under an Idempotency-Key, until the answer is none of trouble (D37): a 500 says that nothing is
 * stored, and a connection that closes without an answer leaves that open. On a busy machine both can happen.
 */
export const postUntilServed: typeof post = (url, apiKey, body, headers) => {
  const keyed = { 'Idempotency-Key': randomUUID(), ...headers };
  return eventually('an answer', async () => {
    const answer = await post(url, apiKey, body, keyed).catch(() => null);
    return answer === null || answer.status === 500 ? undefined : answer;
  });
};

let serial = 0;

/** A valid application with a phone that no other application in this file has. */
export function anApplication(changes: Record<string, unknown> = {}): Record<string, unknown> {
  serial += 1;
  return {
    ...GIG_APPLICANT,
    id_number: `10${String(serial).padStart(8, '0')}`,
    phone: `+57300${String(serial).padStart(7, '0')}`,
    ...changes,
  };
}

/** POSTs JSON (or bytes unchanged) with a key; gives the answer with its parsed body. */
export async function post(
  url: string,
  apiKey: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string; body: never }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  } as never;
}
