/**
 * Registers of excluded numbers, which get no message that the service begins (D42; docs/messages.md, "Registers of
 * excluded numbers"). Reads and writes `exclusion_registers` and `excluded_numbers`.
 */
import type { BlindIndex } from '../../../domain/application/ids.ts';
import { type Database, onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';

export interface Register {
  readonly name: string;
  /** When the last import ended, and how many numbers it listed; null: none has ended. */
  readonly importedAt: Date | null;
  readonly numbers: number | null;
}

/** An import under way. */
export interface RegisterImport {
  readonly registerId: number;
  /** The number of the import; a later one has a higher number. */
  readonly number: string;
}

const MOST_REGISTERS = 100;

const BEGIN = `
  UPDATE exclusion_registers SET import = import + 1 WHERE name = $1 RETURNING id AS "registerId", import AS number`;
const MAKE = `
  INSERT INTO exclusion_registers (id, name) SELECT $1, $2
  WHERE (SELECT count(*) FROM exclusion_registers) < ${MOST_REGISTERS} ON CONFLICT (name) DO NOTHING`;

/** Begins an import, and makes the register where it is new. Null: there are too many registers. */
export async function beginImport(session: Session, name: string): Promise<RegisterImport | null> {
  const found = await session.query<RegisterImport>(BEGIN, [name]);
  if (found.rows[0] !== undefined) return found.rows[0];
  await session.query(MAKE, [await takeId(session, 'exclusion_registers'), name]);
  return (await session.query<RegisterImport>(BEGIN, [name])).rows[0] ?? null;
}

const ADD = 'SELECT add_excluded($1::smallint, $2::bigint, $3::bigint[]) AS added';

/** Adds different numbers of an import. Returns how many of them the register did not list. */
export async function addExcluded(
  session: Session,
  { registerId, number }: RegisterImport,
  phones: readonly BlindIndex<'phone'>[],
): Promise<number> {
  const { rows } = await session.query<{ added: number }>(ADD, [registerId, number, phones.map(toBigint)]);
  return onlyRow(rows).added;
}

/** Rows of a statement: a statement ends within three seconds, and a register may have 20 million numbers. */
const AT_ONCE = 20_000;
/** A part of all registers by the key, from the number after $3 on: a small register may stand beside a large one. */
const PART = `
  SELECT phone_index, register_id, import FROM excluded_numbers WHERE phone_index > $3::bigint
  ORDER BY phone_index FETCH FIRST ${AT_ONCE} ROWS WITH TIES`;
const COUNT = `
  SELECT (count(*) FILTER (WHERE register_id = $1))::integer AS numbers,
    (count(*) FILTER (WHERE register_id = $1 AND import < $2::bigint))::integer AS gone, max(phone_index) AS last
  FROM (${PART}) AS part`;
const FORGET = `
  WITH part AS MATERIALIZED (${PART}), gone AS (
    DELETE FROM excluded_numbers e USING part s
    WHERE s.register_id = $1 AND s.import < $2::bigint
      AND e.register_id = $1 AND e.phone_index = s.phone_index AND e.import < $2::bigint
    RETURNING 1)
  SELECT (SELECT count(*) FROM part WHERE register_id = $1)::integer AS numbers,
    (SELECT count(*) FROM gone)::integer AS gone, (SELECT max(phone_index) FROM part) AS last`;

/** What is counted of a register: its numbers, and those that an import and later ones do not list. */
interface RegisterCount {
  readonly numbers: number;
  readonly gone: number;
}

/** Runs a statement over all parts, each in a transaction of its own, and adds up what it counts. */
async function overParts(
  session: Session,
  text: string,
  { registerId, number }: RegisterImport,
): Promise<RegisterCount> {
  const sum = { numbers: 0, gone: 0 };
  for (let last: string | null = '-9223372036854775808'; last !== null; ) {
    type Part = RegisterCount & { readonly last: string | null };
    const part: Part = onlyRow((await session.query<Part>(text, [registerId, number, last])).rows);
    sum.numbers += part.numbers;
    sum.gone += part.gone;
    last = part.last;
  }
  return sum;
}

/** How many numbers a register has, and how many of them this import and later ones do not list. */
export function countNumbers(session: Session, begun: RegisterImport): Promise<RegisterCount> {
  return overParts(session, COUNT, begun);
}

/** Deletes the numbers that this import and later ones do not list. Returns how many. */
export async function forgetUnlisted(session: Session, begun: RegisterImport): Promise<number> {
  return (await overParts(session, FORGET, begun)).gone;
}

const END = `
  UPDATE exclusion_registers SET imported_at = now(), numbers = $3 WHERE id = $1 AND import = $2::bigint`;

/** Notes the end of an import. False: another import of the register has begun meanwhile. */
export async function endImport(
  session: Session,
  { registerId, number }: RegisterImport,
  numbers: number,
): Promise<boolean> {
  return (await session.query(END, [registerId, number, numbers])).rowCount === 1;
}

const IS_NEWEST = 'SELECT FROM exclusion_registers WHERE id = $1 AND import = $2::bigint';

/** False: another import of the register has begun. */
export async function isNewestImport(
  session: Session,
  { registerId, number }: RegisterImport,
): Promise<boolean> {
  return (await session.query(IS_NEWEST, [registerId, number])).rowCount === 1;
}

const REGISTERS =
  'SELECT name, imported_at AS "importedAt", numbers::float8 FROM exclusion_registers ORDER BY name';

/** The registers by name. */
export async function readRegisters(session: Session): Promise<Register[]> {
  return (await session.query<Register>(REGISTERS)).rows;
}

/** A number of a register. */
export interface ExcludedNumber {
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly register: string;
  readonly listedAt: Date;
}

const CHUNK = 1_000;
const LIST = `
  SELECT ${readIndex('e.phone_index')} AS "phoneIndex", r.name AS register, e.listed_at AS "listedAt",
    e.register_id AS "registerId"
  FROM excluded_numbers e JOIN exclusion_registers r ON r.id = e.register_id
  WHERE $1::bigint IS NULL OR (e.phone_index, e.register_id) > ($1, $2::smallint)
  ORDER BY e.phone_index, e.register_id LIMIT ${CHUNK}`;

/** The numbers of all registers by their index, in bounded memory. */
export async function* readExcludedNumbers(
  database: Database,
): AsyncGenerator<ExcludedNumber, void, undefined> {
  type Row = ExcludedNumber & { readonly registerId: number };
  for (let last: Row | undefined; ; ) {
    const after = last === undefined ? [null, null] : [toBigint(last.phoneIndex), last.registerId];
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, after);
    yield* rows;
    if (rows.length < CHUNK) return;
    last = rows.at(-1);
  }
}
