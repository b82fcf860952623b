/**
 * The reseal under way, or the last one: reads and writes the one row of `reseals` (docs/keys.md, "The data key"). Any
 * number of processes take its steps in turn.
 */
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { ALL_SEAL_ALIKE } from '../../../seal/data-keys.ts';

/** A reseal. At its end everything is sealed with one data key. */
export interface Reseal {
  readonly keyId: number;
  /** The kind of sealed values that is being sealed again. */
  readonly kind: string;
  /** Where the next step begins. */
  readonly from: string;
  readonly resealed: number;
  /** How many values were left as they are because they do not open. */
  readonly unopened: number;
  readonly startedAt: Date;
  /** null: the reseal is under way. */
  readonly finishedAt: Date | null;
}

const READ =
  'SELECT key_id, kind, step_from AS "from", resealed, unopened, started_at, finished_at FROM reseals';

/** The reseal under way, or the last one; null if there was none. */
export async function readReseal(session: Session): Promise<Reseal | null> {
  const { rows } = await session.query<{
    key_id: number;
    kind: string;
    from: string;
    resealed: string;
    unopened: string;
    started_at: Date;
    finished_at: Date | null;
  }>(READ);
  const [row] = rows;
  if (row === undefined) return null;
  return {
    keyId: row.key_id,
    kind: row.kind,
    from: row.from,
    resealed: Number(row.resealed),
    unopened: Number(row.unopened),
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

/** A reseal that is under way with the same key goes on. */
const BEGIN = `
  INSERT INTO reseals AS r (key_id, kind, step_from, next_at, started_at) VALUES ($1, $2, '', now(), now())
  ON CONFLICT (id) DO UPDATE SET key_id = excluded.key_id, kind = excluded.kind, step_from = excluded.step_from,
    resealed = 0,
    unopened = 0, next_at = excluded.next_at, started_at = excluded.started_at, finished_at = NULL
  WHERE r.finished_at IS NOT NULL OR r.key_id <> excluded.key_id`;

/** Begins a reseal with this kind of values. False: the same reseal is under way, and goes on. */
export async function beginReseal(session: Session, keyId: number, kind: string): Promise<boolean> {
  return (await session.query(BEGIN, [keyId, kind])).rowCount === 1;
}

/** Where a step begins: at a kind of sealed values, and at a value of this kind. */
export interface StepStart {
  readonly kind: string;
  readonly from: string;
}

/** A time more than a step's half minute ahead was written while the clock was ahead. */
const TAKE = `
  UPDATE reseals SET next_at = now() + interval '30 seconds'
  WHERE finished_at IS NULL AND key_id = $1::text::integer AND next_at NOT BETWEEN now() AND now() + interval '1 minute'
    AND ${ALL_SEAL_ALIKE}
  RETURNING kind, step_from AS "from"`;

/**
 * Takes the next step of a reseal to this data key, for half a minute. Null if no step is due, and while a running
 * service seals with another key: that service may be unable to open what this one seals.
 */
export async function takeStep(database: Database, keyId: number): Promise<StepStart | null> {
  return (await database.query<StepStart>(TAKE, [keyId])).rows[0] ?? null;
}

/** The result of a step. `next` null: the reseal has ended. */
interface StepResult {
  readonly next: StepStart | null;
  readonly resealed: number;
  readonly unopened: number;
  /** After how many milliseconds the next step may begin. */
  readonly restMs: number;
}

/** Both statements change nothing if another process took the same step too, and has recorded it. */
const RECORD = `
  UPDATE reseals SET kind = $6, step_from = $7, resealed = resealed + $4, unopened = unopened + $5,
    next_at = now() + $8 * interval '1 millisecond'
  WHERE key_id = $1 AND kind = $2 AND step_from = $3 AND finished_at IS NULL`;
const FINISH = `
  UPDATE reseals SET resealed = resealed + $4, unopened = unopened + $5, finished_at = now()
  WHERE key_id = $1 AND kind = $2 AND step_from = $3 AND finished_at IS NULL`;

/** Records the end of a step, which is named by where it began. */
export async function recordStep(
  database: Database,
  keyId: number,
  { kind, from }: StepStart,
  { next, resealed, unopened, restMs }: StepResult,
): Promise<void> {
  const done = [keyId, kind, from, resealed, unopened];
  if (next === null) await database.query(FINISH, done);
  else await database.query(RECORD, [...done, next.kind, next.from, restMs]);
}
