/** Checks the secrets against the database that was made with them. */

import { openEnvelope } from '../applications/sql/envelope.ts';
import { partitionsDown } from '../applications/sql/partition-runs.ts';
import { endpointIdentity } from '../events/push/sql/endpoint-settings.ts';
import { type Database, inTransaction, type Session, SetupError } from '../postgres/database.ts';
import { DATA_KEY } from './data-keys.ts';
import { fingerprintOf, Vault } from './vault.ts';
import type { Secrets } from './written-keys.ts';

/** A secret as the database remembers it. */
interface Known {
  readonly name: string;
  /** 32 hex digits. */
  readonly value: string;
  /** A service has run with the secret. */
  readonly confirmed: boolean;
}

const READ = 'SELECT name, value, confirmed FROM secret_checks ORDER BY name';
/** Two processes that write here take turns; readers do not wait. */
const LOCK = 'LOCK TABLE secret_checks IN SHARE ROW EXCLUSIVE MODE';
const FORGET = 'DELETE FROM secret_checks WHERE name <> ALL ($1::text[])';
const REMEMBER = `
  INSERT INTO secret_checks AS known (name, value, confirmed, seals)
  SELECT g.name, g.value, $3, $3 AND g.name = $4 FROM unnest($1::text[], $2::uuid[]) AS g(name, value)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, confirmed = known.confirmed OR excluded.confirmed,
    seals = known.seals OR excluded.seals
  WHERE (known.value, known.confirmed, known.seals) IS DISTINCT FROM
    (excluded.value, known.confirmed OR excluded.confirmed, known.seals OR excluded.seals)`;

/** A search for data of a key that sealed none reads the whole table; only a change of keys needs the search. */
const SEARCH_TIMEOUT_MS = 60_000;
const SAMPLES = 3;

/** Whether the database has been used with secrets before: then no new ones may be made for it. */
export async function knowsSecrets(database: Database): Promise<boolean> {
  const { rows } = await database.query('SELECT FROM secret_checks LIMIT 1');
  return rows.length > 0;
}

/**
 * Refuses secrets that the stored data was not made with: another index key would let duplicates pass, another pepper
 * would lock every partner out. A remembered secret binds only if data depends on it, so that neither a mistake in
 * one call nor a data key that sealed nothing prevents the next start. Changes nothing. Throws `SetupError` that
 * names the secret.
 */
export async function checkSecrets(database: Database, secrets: Secrets): Promise<void> {
  await inTransaction(database, (session) => refuseOthers(session, secrets, false));
}

/**
 * Checks the secrets of a command, and remembers them if nothing else is remembered: data may depend on them from now
 * on. Refuses a command with other secrets than those of a service that has run, whatever is stored. Throws
 * `SetupError` that names the secret.
 */
export async function checkSecretsOfCommand(database: Database, secrets: Secrets): Promise<void> {
  await inTransaction(database, async (session) => {
    await session.query(LOCK);
    await refuseOthers(session, secrets, true);
    await remember(session, secrets, false);
  });
}

/**
 * Checks the secrets of a service again and remembers only these. Call this when the service is up, so that a failed
 * start leaves nothing behind. Throws `SetupError` that names the secret.
 */
export async function confirmSecrets(database: Database, secrets: Secrets): Promise<void> {
  await inTransaction(database, async (session) => {
    await session.query(LOCK);
    await refuseOthers(session, secrets, false);
    await session.query(FORGET, [[...fingerprintsOf(secrets).keys()]]);
    await remember(session, secrets, true);
  });
}

async function remember(session: Session, secrets: Secrets, confirmed: boolean): Promise<void> {
  const fingerprints = fingerprintsOf(secrets);
  const [sealing] = secrets.dataKeys.keys();
  await session.query(REMEMBER, [
    [...fingerprints.keys()],
    [...fingerprints.values()],
    confirmed,
    `${DATA_KEY}${sealing}`,
  ]);
}

async function refuseOthers(session: Session, secrets: Secrets, isCommand: boolean): Promise<void> {
  const fingerprints = fingerprintsOf(secrets);
  const { rows } = await session.query<Known>(READ);
  for (const { name, value, confirmed } of rows) {
    const given = fingerprints.get(name);
    if (given === value.replaceAll('-', '')) continue;
    if (given !== undefined && isCommand && confirmed) throw refusal(name, given);
    if (await isNeeded(session, name, secrets)) throw refusal(name, given);
  }
}

function refusal(name: string, given: string | undefined): SetupError {
  return new SetupError(
    given === undefined
      ? `${name} is missing: the database holds data sealed with it`
      : `${name} is not the one that this database was made with`,
  );
}

/** Whether stored data needs the remembered secret of this name, and not the given one. */
async function isNeeded(session: Session, name: string, secrets: Secrets): Promise<boolean> {
  if (name === 'API_KEY_PEPPER') return exists(session, 'SELECT FROM api_keys LIMIT 1');
  if (name === 'INDEX_KEY') {
    return (await hasBatches(session)) || (await exists(session, 'SELECT FROM suppressions LIMIT 1'));
  }
  const id = Number(name.slice(DATA_KEY.length));
  const key = secrets.dataKeys.get(id);
  const open = key === undefined ? null : new Vault({ ...secrets, dataKeys: new Map([[id, key]]) });
  const samples = await sealedWith(session, id);
  return samples.length > 0 && !samples.some((sample) => open !== null && opensSample(open, sample));
}

const A_BATCH = 'SELECT FROM batches WHERE id >= $1 AND id < $2 LIMIT 1';

async function hasBatches(session: Session): Promise<boolean> {
  for await (const { from, before } of partitionsDown(session)) {
    if ((await session.query(A_BATCH, [from, before])).rows.length > 0) return true;
  }
  return false;
}

async function exists(session: Session, sql: string): Promise<boolean> {
  return (await session.query(sql)).rows.length > 0;
}

/** The sealed bytes of a batch or of an endpoint. */
type Sample =
  | { kind: 'batch'; id: string; sealed: Buffer }
  | { kind: 'endpoint'; partner_id: number; sealed: Buffer };

const SEALED_BATCHES = `
  SELECT 'batch' AS kind, seal_id AS id, envelope AS sealed FROM batches
  WHERE id >= $2 AND id < $3 AND substring(envelope FROM 1 FOR 1) = $1 LIMIT ${SAMPLES}`;
const SEALED_ENDPOINTS = `
  SELECT 'endpoint' AS kind, partner_id, sealed FROM partner_endpoints
  WHERE substring(sealed FROM 1 FOR 1) = $1 LIMIT ${SAMPLES}`;

async function sealedWith(session: Session, id: number): Promise<Sample[]> {
  await session.query(`SET LOCAL statement_timeout = ${SEARCH_TIMEOUT_MS}`);
  const found: Sample[] = [];
  const deadline = performance.now() + SEARCH_TIMEOUT_MS;
  const search = async (text: string, ...range: string[]) => {
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const query = { text, values: [Buffer.of(id), ...range], query_timeout: leftMs };
    found.push(...(await session.query<Sample>(query)).rows);
  };
  await search(SEALED_ENDPOINTS);
  for await (const { from, before } of partitionsDown(session)) {
    if (found.length >= SAMPLES) break;
    // Its locks end here, so that the search does not hold those of every partition.
    await session.query('SAVEPOINT partition');
    await search(SEALED_BATCHES, from, before);
    await session.query('ROLLBACK TO SAVEPOINT partition');
  }
  return found;
}

function opensSample(vault: Vault, sample: Sample): boolean {
  try {
    if (sample.kind === 'batch') openEnvelope(vault, sample.id, sample.sealed);
    else vault.open(sample.sealed, endpointIdentity(sample.partner_id));
    return true;
  } catch {
    return false;
  }
}

function fingerprintsOf(secrets: Secrets): Map<string, string> {
  const keys: [string, Buffer][] = [
    ['INDEX_KEY', secrets.indexKey],
    ['API_KEY_PEPPER', secrets.apiKeyPepper],
    ...[...secrets.dataKeys].map(([id, key]): [string, Buffer] => [`${DATA_KEY}${id}`, key]),
  ];
  return new Map(keys.map(([name, key]) => [name, fingerprintOf(key)]));
}
