/**
 * Refuses a start or a command whose secrets are not those that the stored data was made with; remembers their
 * fingerprints. Reads and writes `secret_checks`, and `elapsed` by its functions; `witness.ts` says which data is
 * asked. ARCHITECTURE, "A process's life", has the rule.
 */
import type pg from 'pg';
import type { Clock } from '../ground/base/clock.ts';
import { counted } from '../ground/base/counted.ts';
import { type Database, inTransaction, type Transaction } from '../ground/postgres/database.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';
import { DATA_KEY, INDEX_KEY, LOCK_SECRETS, PEPPER } from './data-keys.ts';
import { NO_INDEX_KEY, putIndexKey } from './index-key.ts';
import type { Secrets } from './vault.ts';
import { fingerprintOf, indexOriginsOf, Vault } from './vault.ts';
import type { Opening, Witness, Witnesses } from './witness.ts';

/** A secret as the database remembers it. */
interface Known {
  readonly name: string;
  /** 32 hex digits. */
  readonly value: string;
  /** A service has run with the secret. */
  readonly confirmed: boolean;
  /** A data key that no stored data needs any more. */
  readonly retired: boolean;
}

const READ =
  'SELECT name, value, confirmed, retired_at IS NOT NULL AS retired FROM secret_checks WHERE NOT forgotten ORDER BY name';
/**
 * A retired key stays known, so that nobody seals with it again. Another key may come back, so the count of its seals
 * stays.
 */
const FORGET = `
  UPDATE secret_checks SET forgotten = true, seals_at = NULL
  WHERE name <> ALL ($1::text[]) AND retired_at IS NULL AND NOT forgotten`;
/** Another key under the same id has sealed nothing yet. */
const REMEMBER = `
  INSERT INTO secret_checks AS known (name, value, confirmed, seals_at)
  SELECT g.name, g.value, $3, CASE WHEN $3 AND g.name = $4 THEN now() END
  FROM unnest($1::text[], $2::uuid[]) AS g(name, value)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, confirmed = known.confirmed OR excluded.confirmed,
    seals_at = coalesce(excluded.seals_at, known.seals_at),
    seals = CASE WHEN known.value = excluded.value THEN known.seals ELSE 0 END, forgotten = false
  WHERE known.retired_at IS NULL AND (known.forgotten, known.value, known.confirmed, known.seals_at) IS DISTINCT FROM
    (false, excluded.value, known.confirmed OR excluded.confirmed, coalesce(excluded.seals_at, known.seals_at))`;

/**
 * A killed `vault retire` leaves its key refused, and this takes that back. A `vault retire` that still runs notices
 * that a service seals with the key.
 */
const ALLOW_AGAIN =
  'SELECT refuse_data_key($1, false) FROM elapsed e WHERE $1::integer = ANY (e.refused_keys)';

/** A search for data of a key that sealed none reads the whole table; only a change of keys needs the search. */
const SEARCH_TIMEOUT_MS = 60_000;
const SAMPLES = 3;

/**
 * Who opens a store without starting a service on it. A backup searches for nobody, so it accepts blind indexes of a
 * former form. A restored store is in use by nobody else, and its indexes are made again, so a restore accepts those of
 * an earlier key too.
 */
export type StoreHolder = 'backup' | 'restore';

/** Whether the database has been used with secrets before: then no new ones may be made for it. */
export async function knowsSecrets(database: Database): Promise<boolean> {
  const { rows } = await database.query('SELECT FROM secret_checks LIMIT 1');
  return rows.length > 0;
}

/**
 * Refuses secrets that the stored data was not made with: another index key would let duplicates pass, another pepper
 * would lock every partner out. A remembered secret binds only if data depends on it, so that neither a mistake in one
 * call nor a data key that sealed nothing prevents the next start. Blind indexes of an earlier form are refused too,
 * except for a `holder` that takes them. Changes nothing. Throws `SetupError` that names the secret.
 */
export async function checkSecrets(
  database: Database,
  secrets: Secrets,
  witnesses: Witnesses,
  clock: Clock,
  holder?: StoreHolder,
): Promise<void> {
  await inTransaction(database, async (session) => {
    await refuseOthers(session, { secrets, witnesses, clock, holder }, false);
  });
}

/**
 * Checks the secrets of a command, and remembers them if nothing else is remembered: data may depend on them from now
 * on. Refuses a command with other secrets than those of a service that has run, whatever is stored. Throws
 * `SetupError` that names the secret.
 */
export async function checkSecretsOfCommand(
  database: Database,
  secrets: Secrets,
  witnesses: Witnesses,
  clock: Clock,
): Promise<void> {
  await inTransaction(database, async (session) => {
    await session.query(LOCK_SECRETS);
    await refuseOthers(session, { secrets, witnesses, clock }, true);
    await remember(session, secrets, false);
  });
}

/**
 * Checks the secrets of a service again and remembers only these. Call this when the service is up, so that a failed
 * start leaves nothing behind. Throws `SetupError` that names the secret.
 */
export async function confirmSecrets(
  database: Database,
  secrets: Secrets,
  witnesses: Witnesses,
  clock: Clock,
): Promise<void> {
  await inTransaction(database, async (session) => {
    await session.query(LOCK_SECRETS);
    await refuseOthers(session, { secrets, witnesses, clock }, false);
    await session.query(FORGET, [[...fingerprintsOf(secrets).keys()]]);
    await remember(session, secrets, true);
    await putIndexKey(session, indexKeyIdOf(secrets));
    await session.query(ALLOW_AGAIN, [[...secrets.dataKeys.keys()][0]]);
  });
}

async function remember(session: Transaction, secrets: Secrets, confirmed: boolean): Promise<void> {
  const fingerprints = fingerprintsOf(secrets);
  const [sealing] = secrets.dataKeys.keys();
  await session.query(REMEMBER, [
    [...fingerprints.keys()],
    [...fingerprints.values()],
    confirmed,
    `${DATA_KEY}${sealing}`,
  ]);
}

/** The given secrets, with the searches that find out whether data depends on others. */
interface Check {
  readonly secrets: Secrets;
  readonly witnesses: Witnesses;
  readonly clock: Clock;
  readonly holder?: StoreHolder | undefined;
}

async function refuseOthers(session: Transaction, check: Check, isCommand: boolean): Promise<void> {
  const fingerprints = fingerprintsOf(check.secrets);
  const { rows } = await session.query<Known>(READ);
  const [sealing] = check.secrets.dataKeys.keys();
  await refuseOtherPeppers(session, check);
  for (const { name, value, confirmed, retired } of rows) {
    if (retired && name === `${DATA_KEY}${sealing}`) throw new SetupError(`${name} is retired: ${INSTEAD}`);
    if (retired) continue;
    const given = fingerprints.get(name);
    const known = value.replaceAll('-', '');
    if (given === known || (name === PEPPER && pepperIdsOf(check.secrets).includes(known))) continue;
    if (name === INDEX_KEY && (await isOfTheseKeys(session, check, known, isCommand && confirmed))) continue;
    if (given !== undefined && isCommand && confirmed) throw refusal(name, given);
    if (await isNeeded(session, name, check)) throw refusal(name, given);
  }
}

/**
 * Whether the stored indexes were made with these keys in an earlier way, and nothing needs them. Throws `SetupError`
 * if something needs them, or if `always` is set.
 */
async function isOfTheseKeys(
  session: Transaction,
  check: Check,
  known: string,
  always: boolean,
): Promise<boolean> {
  const isRestored = check.holder === 'restore';
  if (known === NO_INDEX_KEY && isRestored) return true;
  if (known === NO_INDEX_KEY) throw new SetupError(HALF_REINDEXED);
  const origin = indexOriginsOf(check.secrets).get(known);
  if (origin === undefined) return false;
  const hasNewestKey = origin.key === (check.secrets.newerIndexKeys ?? []).length;
  if (isRestored || (hasNewestKey && check.holder === 'backup')) return true;
  if (always || (await isNeeded(session, INDEX_KEY, check)))
    throw new SetupError(hasNewestKey ? NEWER_FORM : NEWER_INDEX_KEY);
  return true;
}

const NEWER_INDEX_KEY =
  'INDEX_KEY has a newer key than the stored indexes: stop every service and worker, and run vault reindex';
const NEWER_FORM =
  'this version compares ID numbers by their letters and digits and reads phones by the plans of their countries, and the stored indexes were made by an earlier one: stop every service and worker, and run vault reindex';
const HALF_REINDEXED =
  'a vault reindex is not over: run vault reindex with the same INDEX_KEY until it says that it is, and start the services then';
const MOST_NAMED = 10;

/** The rows of the API keys tell which peppers they need. */
async function refuseOtherPeppers(session: Transaction, { secrets, witnesses }: Check): Promise<void> {
  const ids: number[] = [];
  for (const find of witnesses.apiKeyPepper) ids.push(...(await find(session, pepperIdsOf(secrets))));
  if (ids.length === 0) return;
  const named = ids.slice(0, MOST_NAMED).join(', ') + (ids.length > MOST_NAMED ? ' and others' : '');
  throw new SetupError(
    `${PEPPER} is not the one of ${counted(ids.length, 'live API key')} (${named}): add ${ids.length === 1 ? 'its' : 'their'} pepper at the end of the list`,
  );
}

const INSTEAD = 'put another key first, with a number that no key had before';

function refusal(name: string, given: string | undefined): SetupError {
  return new SetupError(
    given === undefined
      ? `${name} is missing: the database holds data sealed with it`
      : `${name} is not the one that this database was made with`,
  );
}

/** Whether stored data needs the remembered secret of this name, and not the given one. */
async function isNeeded(
  session: Transaction,
  name: string,
  { secrets, witnesses, clock }: Check,
): Promise<boolean> {
  if (name === PEPPER) return false;
  if (name === INDEX_KEY) return someSees(session, witnesses.indexKey);
  const id = Number(name.slice(DATA_KEY.length));
  const key = secrets.dataKeys.get(id);
  const vault = key === undefined ? null : new Vault({ ...secrets, dataKeys: new Map([[id, key]]) });
  const samples = await samplesOf(session, id, witnesses, clock);
  return samples.length > 0 && !samples.some((open) => vault !== null && opens(open, vault));
}

async function someSees(session: Transaction, witnesses: readonly Witness[]): Promise<boolean> {
  for (const sees of witnesses) {
    if (await sees(session)) return true;
  }
  return false;
}

/** Up to three pieces of data that the data key with this id has sealed. */
async function samplesOf(
  session: Transaction,
  id: number,
  { dataKeys }: Witnesses,
  clock: Clock,
): Promise<Opening[]> {
  await session.query(`SET LOCAL statement_timeout = ${SEARCH_TIMEOUT_MS}`);
  const deadline = clock.monotonicMs() + SEARCH_TIMEOUT_MS;
  const rows = async <Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> => {
    const leftMs = Math.max(1, Math.ceil(deadline - clock.monotonicMs()));
    const query = { text, values: [...values], query_timeout: leftMs };
    return (await session.query<Row>(query)).rows;
  };
  const found: Opening[] = [];
  for (const { find } of dataKeys) {
    for await (const opening of find({ session, keyByte: Buffer.of(id), rows })) {
      if (found.push(opening) === SAMPLES) return found;
    }
  }
  return found;
}

function opens(open: Opening, vault: Vault): boolean {
  try {
    open(vault);
    return true;
  } catch {
    return false;
  }
}

function pepperIdsOf({ apiKeyPepper, olderPeppers = [] }: Secrets): string[] {
  return [apiKeyPepper, ...olderPeppers].map(fingerprintOf);
}

function indexKeyIdOf(secrets: Secrets): string {
  return [...indexOriginsOf(secrets).keys()].at(-1)!;
}

function fingerprintsOf(secrets: Secrets): Map<string, string> {
  const keys: [string, Buffer][] = [
    [PEPPER, secrets.apiKeyPepper],
    ...[...secrets.dataKeys].map(([id, key]): [string, Buffer] => [`${DATA_KEY}${id}`, key]),
  ];
  return new Map([
    [INDEX_KEY, indexKeyIdOf(secrets)],
    ...keys.map(([name, key]): [string, string] => [name, fingerprintOf(key)]),
  ]);
}
