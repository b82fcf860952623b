/** Phones that get no messages, by blind index: reads and writes `suppressions` (docs/messages.md, "Consent"). */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';

/**
 * Where a suppression comes from: a word that the applicant wrote, a setting that the channel reported, or an operator.
 */
type SuppressionSource = 'keyword' | 'channel' | 'operator';

export interface Suppression {
  /** Blind index. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly source: SuppressionSource;
  /** The time of the last opt-out. */
  readonly createdAt: Date;
}

/** An opt-out that the channel reports (`stops`), or its end. */
export interface OptOutChange {
  /** Blind index. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly stops: boolean;
  readonly source: Exclude<SuppressionSource, 'operator'>;
  /** The time by the channel's clock. */
  readonly at: Date;
}

const APPLY = 'SELECT was, "is" FROM apply_opt_out_changes($1, $2, $3, $4)';

/** How many phones became suppressed, and how many are not suppressed any more. */
export interface ChangeCounts {
  readonly suppressed: number;
  readonly resumed: number;
}

/** Counts changes in rows that tell whether a phone was suppressed before, and is now. */
export function countChanges(rows: readonly { was: boolean | null; is: boolean | null }[]): ChangeCounts {
  return {
    suppressed: rows.filter(({ was, is }) => is === true && was === false).length,
    resumed: rows.filter(({ was, is }) => was === true && is === false).length,
  };
}

/**
 * Applies opt-outs and resumes that the channel reports, in any order and number (`apply_opt_out_changes` in
 * `sql/functions/messages/suppressions.sql` says which one holds).
 */
export async function applyOptOutChanges(
  database: Session,
  changes: readonly OptOutChange[],
): Promise<ChangeCounts> {
  if (changes.length === 0) return countChanges([]);
  const { rows } = await database.query<{ was: boolean; is: boolean }>(APPLY, [
    changes.map(({ phoneIndex }) => toBigint(phoneIndex)),
    changes.map(({ stops }) => stops),
    changes.map(({ source }) => source),
    changes.map(({ at }) => at),
  ]);
  return countChanges(rows);
}

const SUPPRESS_APPLICANTS = 'SELECT suppress_applicants($1)';

/** Suppresses the phones of applications because the channel refuses to send to them. */
export async function suppressApplicants(
  session: Session,
  applicationIds: readonly ApplicationId[],
): Promise<void> {
  if (applicationIds.length > 0) await session.query(SUPPRESS_APPLICANTS, [applicationIds]);
}

const ADD = 'SELECT add_suppression($1) AS added';

/**
 * Suppresses a phone for an operator. No other source is stronger. Returns false if the phone was already suppressed.
 */
export async function addSuppression(database: Database, phoneIndex: BlindIndex<'phone'>): Promise<boolean> {
  return (await database.query<{ added: boolean }>(ADD, [toBigint(phoneIndex)])).rows[0]?.added === true;
}

const LIFT = 'SELECT lift_suppression($1) AS lifted';

/** Lifts a suppression for an operator, whatever its source. Returns false if there is none. */
export async function liftSuppression(database: Database, phoneIndex: BlindIndex<'phone'>): Promise<boolean> {
  return (await database.query<{ lifted: boolean }>(LIFT, [toBigint(phoneIndex)])).rows[0]?.lifted === true;
}

const IS_SUPPRESSED = 'SELECT FROM suppressions WHERE phone_index = $1 AND active';

/** Whether a phone is suppressed. */
export async function isSuppressed(session: Session, phoneIndex: BlindIndex<'phone'>): Promise<boolean> {
  return (await session.query(IS_SUPPRESSED, [toBigint(phoneIndex)])).rowCount === 1;
}

/** Phones that became suppressed after a moment, for a restored older store. */
export interface LaterSuppressions {
  /** Blind indexes, as the decimal texts of a bigint. */
  readonly phones: readonly string[];
  readonly sources: readonly string[];
  /** When the person opted out, by the channel's clock; null: an operator suppressed the phone. */
  readonly stoppedAt: readonly (Date | null)[];
}

/** A change that was under way at the moment has committed within this time. */
const UNDER_WAY = "interval '1 minute'";
const SINCE = `
  SELECT phone_index AS phone, source, stopped_at AS "stoppedAt" FROM suppressions
  WHERE active AND changed_at > $1::timestamptz - ${UNDER_WAY} ORDER BY phone_index`;

/** The phones that became suppressed after a moment, and still are. */
export async function readSuppressionsSince(session: Session, at: Date): Promise<LaterSuppressions> {
  const { rows } = await session.query<{ phone: string; source: string; stoppedAt: Date | null }>(SINCE, [
    at,
  ]);
  return {
    phones: rows.map(({ phone }) => phone),
    sources: rows.map(({ source }) => source),
    stoppedAt: rows.map(({ stoppedAt }) => stoppedAt),
  };
}

const SUPPRESS_AGAIN = `
  INSERT INTO suppressions AS s (phone_index, source, stopped_at)
  SELECT u.phone, u.source, u.stopped_at FROM unnest($1::bigint[], $2::text[], $3::timestamptz[])
    AS u(phone, source, stopped_at) ORDER BY u.phone
  ON CONFLICT (phone_index) DO UPDATE SET active = true, source = excluded.source, changed_at = now(),
    stopped_at = greatest(s.stopped_at, excluded.stopped_at), heard_ms = elapsed_ms()
  WHERE NOT s.active`;

/** Suppresses those of these phones that are not suppressed. Returns how many. */
export async function suppressAgain(
  session: Session,
  { phones, sources, stoppedAt }: LaterSuppressions,
): Promise<number> {
  if (phones.length === 0) return 0;
  return (await session.query(SUPPRESS_AGAIN, [phones, sources, stoppedAt])).rowCount ?? 0;
}

/**
 * Whether there is any suppression, in force or lifted. It is stored under the blind index of its phone, so it depends
 * on the index key.
 */
export async function hasSuppressions(session: Session): Promise<boolean> {
  return (await session.query('SELECT FROM suppressions LIMIT 1')).rows.length > 0;
}

/** The most suppressions in memory at once. */
const CHUNK = 1_000;

/** The cursor is text, because a `Date` would lose the microseconds. */
const LIST = `
  SELECT ${readIndex('phone_index')} AS "phoneIndex", source, created_at AS "createdAt", created_at::text AS cursor
  FROM suppressions
  WHERE active AND ($1::timestamptz IS NULL OR (created_at, phone_index) < ($1, $2::bigint))
  ORDER BY created_at DESC, phone_index DESC LIMIT ${CHUNK}`;

/** All suppressions, newest first. */
export async function* readSuppressions(database: Database): AsyncGenerator<Suppression, void, undefined> {
  type Row = Suppression & { readonly cursor: string };
  for (let last: Row | undefined; ; ) {
    const values = [last?.cursor ?? null, last === undefined ? null : toBigint(last.phoneIndex)];
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, values);
    yield* rows;
    if (rows.length < CHUNK) return;
    last = rows.at(-1);
  }
}

/** A statement of its own, because on a cluster the applications are on other machines. */
const SUPPRESSED = `
  SELECT ${readIndex('phone_index')} AS index FROM suppressions WHERE active AND phone_index = ANY ($1::bigint[])`;

/** Those of these phones that are suppressed. */
export async function suppressedOf(
  session: Session,
  phones: readonly BlindIndex<'phone'>[],
): Promise<ReadonlySet<string>> {
  if (phones.length === 0) return new Set();
  const { rows } = await session.query<{ index: string }>(SUPPRESSED, [phones.map(toBigint)]);
  return new Set(rows.map(({ index }) => index));
}
