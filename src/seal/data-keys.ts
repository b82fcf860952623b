/**
 * Records in the database which data key each service seals with and how often, compares the keys of processes, and
 * retires a key that no row needs. Reads and writes `secret_checks`. docs/keys.md has the rule.
 */
import type { Clock } from '../ground/base/clock.ts';
import { ToldError } from '../ground/base/told-error.ts';
import {
  type Database,
  inTransaction,
  onlyRow,
  type Session,
  STATEMENT_TIMEOUT_MS,
} from '../ground/postgres/database.ts';
import type { Vault } from './vault.ts';

/** The prefix of the name of a data key in `secret_checks`; its id follows. */
export const DATA_KEY = 'DATA_KEYS ';
/** The names of the newest pepper and of the newest index key in `secret_checks`. */
export const PEPPER = 'API_KEY_PEPPER';
export const INDEX_KEY = 'INDEX_KEY';

/**
 * A service that seals with a key says so every 15 seconds. A time in the future was written while the clock was ahead.
 */
const SEALS_NOW = "seals_at BETWEEN now() - interval '1 minute' AND now()";

const UNFIT = `
  SELECT name, retired_at IS NOT NULL AS retired FROM secret_checks
  WHERE seals_at IS NOT NULL AND retired_at IS NULL OR name = $1 AND retired_at IS NOT NULL
    OR name = '${PEPPER}' AND confirmed AND value <> ALL ($2::uuid[])
    OR name = '${INDEX_KEY}' AND confirmed AND value <> $3::uuid
  ORDER BY name`;

/** Why the keys of a process do not fit those of the other services. */
interface UnfitKeys {
  /** Data keys that services of this database seal with and this process does not have. */
  readonly unknown: readonly number[];
  /** The process seals with a key that is retired, so it cannot register applications. */
  readonly isRetired: boolean;
  /** Other services hash API keys with a pepper that this process does not have, so it refuses their keys. */
  readonly lacksPepper: boolean;
  /** The stored blind indexes were made with another list of index keys, so the process finds no duplicates. */
  readonly hasOtherIndexKey: boolean;
}

/** Compares the keys of this process with those that the services of the database use. */
export async function unfitKeys(database: Database, vault: Vault): Promise<UnfitKeys> {
  const { rows } = await database.query<{ name: string; retired: boolean }>(UNFIT, [
    `${DATA_KEY}${vault.sealingKey.id}`,
    vault.pepperIds,
    vault.indexKeyId,
  ]);
  const ids = rows
    .filter(({ name, retired }) => !retired && name.startsWith(DATA_KEY))
    .map(({ name }) => idOf(name));
  return {
    unknown: ids.filter((id) => !vault.hasDataKey(id)),
    isRetired: rows.some(({ retired }) => retired),
    lacksPepper: rows.some(({ name }) => name === PEPPER),
    hasOtherIndexKey: rows.some(({ name }) => name === INDEX_KEY),
  };
}

const MARK = `
  INSERT INTO secret_checks AS known (name, value, confirmed, seals_at, seals)
  VALUES ($1::text, $2::uuid, true, now(), $3)
  ON CONFLICT (name) DO UPDATE SET seals_at = excluded.seals_at, seals = known.seals + excluded.seals, forgotten = false
  RETURNING seals`;

/** Records again and again which data key a process seals with, and how often it did. One instance for each process. */
export class SealMark {
  readonly #vault: Vault;
  #told = 0;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /**
   * Says that this process seals with its first data key. A service that started later without this key forgot it if
   * nothing was sealed with it then; so the key has to be named again, for that service's `/readyz`. Returns how many
   * values all services have sealed with the key. If a process is killed, what it sealed since the last call is not
   * counted.
   */
  async tell(database: Database): Promise<number> {
    const { id, fingerprint } = this.#vault.sealingKey;
    const { seals } = this.#vault;
    const values = [`${DATA_KEY}${id}`, fingerprint, seals - this.#told];
    const { rows } = await database.query<{ seals: string }>(MARK, values);
    this.#told = seals;
    return Number(rows[0]?.seals ?? 0);
  }
}

const KNOWN = `SELECT name FROM secret_checks WHERE name LIKE '${DATA_KEY}%' AND retired_at IS NULL AND NOT forgotten`;

/** The ids of the data keys that the services of this database have. */
export async function knownDataKeys(session: Session): Promise<Set<number>> {
  const { rows } = await session.query<{ name: string }>(KNOWN);
  return new Set(rows.map(({ name }) => idOf(name)));
}

/** A data key as the database knows it. */
export interface DataKey {
  readonly id: number;
  /** A running service seals with the key: it said so within the last minute. */
  readonly sealsNow: boolean;
  /** How many values were sealed with the key, about. */
  readonly seals: number;
  readonly retiredAt: Date | null;
}

const READ = `
  SELECT name, coalesce(${SEALS_NOW}, false) AS seals_now, seals, retired_at FROM secret_checks
  WHERE name LIKE '${DATA_KEY}%' AND NOT forgotten`;

/** The data keys of this database in the order of their ids, retired ones too. */
export async function readDataKeys(session: Session): Promise<DataKey[]> {
  const { rows } = await session.query<{
    name: string;
    seals_now: boolean;
    seals: string;
    retired_at: Date | null;
  }>(READ);
  return rows
    .map((row) => ({
      id: idOf(row.name),
      sealsNow: row.seals_now,
      seals: Number(row.seals),
      retiredAt: row.retired_at,
    }))
    .sort((one, other) => one.id - other.id);
}

/** An SQL condition: no running service seals with another data key than the one with the id `$1`, a text. */
export const ALL_SEAL_ALIKE = `
  NOT EXISTS (SELECT FROM secret_checks WHERE ${SEALS_NOW} AND name <> '${DATA_KEY}' || $1::text)`;

const REFUSE = 'SELECT refuse_data_key($1, $2)';
const RETIRE = `
  INSERT INTO secret_checks AS known (name, value, confirmed, retired_at)
  VALUES ($1, gen_random_uuid(), false, now())
  ON CONFLICT (name) DO UPDATE SET retired_at = excluded.retired_at, seals_at = NULL, forgotten = false`;
/** Meanwhile no process can confirm its secrets or say that it seals; readers do not wait. */
export const LOCK_SECRETS = 'LOCK TABLE secret_checks IN SHARE ROW EXCLUSIVE MODE';

/** From now on the database refuses what is sealed with this data key, or takes it again. */
export async function refuseDataKey(session: Session, id: number, isRefused: boolean): Promise<void> {
  await session.query(REFUSE, [id, isRefused]);
}

const MAY_SEAL = 'SELECT may_seal($1) AS yes';

/** Throws `ToldError` if the vault's sealing key may seal no more. */
export async function requireLiveKey(session: Session, vault: Vault): Promise<void> {
  const { id } = vault.sealingKey;
  if (!onlyRow((await session.query<{ yes: boolean }>(MAY_SEAL, [id])).rows).yes)
    throw new ToldError(`data key ${id} is retired: put another key first in DATA_KEYS`);
}

/** Longer than any statement, so that one which began before has ended. */
const STATEMENTS_END_MS = STATEMENT_TIMEOUT_MS + 500;
const TRANSACTIONS_END_MS = 60_000;
const LOOK_EVERY_MS = 200;
const NEWEST = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xid';
const ENDED = 'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS yes';

/** Waits until all transactions that began before have ended. False if one goes on for longer than a minute. */
export async function transactionsEnd(database: Database, clock: Clock): Promise<boolean> {
  // A statement that has read something and written nothing yet has no transaction id.
  await clock.sleep(STATEMENTS_END_MS);
  const { xid } = onlyRow((await database.query<{ xid: string }>(NEWEST)).rows);
  const untilMs = clock.monotonicMs() + TRANSACTIONS_END_MS;
  for (;;) {
    if (onlyRow((await database.query<{ yes: boolean }>(ENDED, [xid])).rows).yes) return true;
    if (clock.monotonicMs() > untilMs) return false;
    await clock.sleep(LOOK_EVERY_MS);
  }
}

/**
 * Retires a data key that no row needs: a start without the key no longer searches for its data, and a start that seals
 * with it is refused. False if a service has begun to seal with it meanwhile.
 */
export function retireDataKey(database: Database, id: number): Promise<boolean> {
  return inTransaction(database, async (session) => {
    await session.query(LOCK_SECRETS);
    const keys = await readDataKeys(session);
    if (keys.some((key) => key.id === id && key.sealsNow)) return false;
    await session.query(RETIRE, [`${DATA_KEY}${id}`]);
    return true;
  });
}

function idOf(name: string): number {
  return Number(name.slice(DATA_KEY.length));
}
