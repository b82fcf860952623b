/** Phones that asked for no more messages, by blind index. */
import type { Database } from './database.ts';

/** A word that they wrote, the channel's own setting, or an operator. */
export type SuppressionSource = 'keyword' | 'channel' | 'operator';

export interface Suppression {
  /** Blind index. */
  readonly phoneIndex: string;
  readonly source: SuppressionSource;
  /** Of the last time that they asked. */
  readonly createdAt: Date;
}

/**
 * What is older than the phone's return says nothing any more. Only an operator's is stronger than what is there.
 * Sorted, so that two at once do not wait in a circle.
 */
const SUPPRESS = `
  INSERT INTO suppressions AS s (phone_index, source, created_at)
  SELECT DISTINCT ON (phone_index) phone_index, source, at
  FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS g(phone_index, source, at)
  WHERE NOT EXISTS (
    SELECT FROM suppression_lifts l WHERE l.phone_index = g.phone_index AND l.lifted_at > g.at)
  ORDER BY phone_index, at DESC
  ON CONFLICT (phone_index) DO UPDATE SET
    source = CASE WHEN excluded.source = 'operator' THEN 'operator' ELSE s.source END,
    created_at = greatest(s.created_at, excluded.created_at)
  RETURNING xmax = 0 AS added`;

/** Suppresses phones that did not return later; one that is suppressed stays so. How many were not. */
export async function suppressPhones(
  database: Database,
  suppressions: readonly Suppression[],
): Promise<number> {
  if (suppressions.length === 0) return 0;
  const { rows } = await database.query<{ added: boolean }>(SUPPRESS, [
    suppressions.map(({ phoneIndex }) => phoneIndex),
    suppressions.map(({ source }) => source),
    suppressions.map(({ createdAt }) => createdAt),
  ]);
  return rows.filter(({ added }) => added).length;
}

const SUPPRESS_APPLICANT = `
  INSERT INTO suppressions (phone_index, source)
  SELECT phone_index, 'channel' FROM applications WHERE id = $1::bigint AND phone_index IS NOT NULL
  ON CONFLICT (phone_index) DO NOTHING`;

/** Suppresses the phone of an application because the channel refuses to send to it. */
export async function suppressApplicant(database: Database, applicationId: number): Promise<void> {
  await database.query(SUPPRESS_APPLICANT, [applicationId]);
}

/** What was asked for at the same time as the return, or later, stays. */
const RESUME = `
  WITH g AS (
    SELECT phone_index, max(at) AS at FROM unnest($1::uuid[], $2::timestamptz[]) AS u(phone_index, at)
    GROUP BY phone_index
  ), noted AS (
    -- A clock that is ahead must not silence what is asked for next.
    INSERT INTO suppression_lifts AS l (phone_index, lifted_at)
    SELECT phone_index, least(at, now()) FROM g ORDER BY phone_index
    ON CONFLICT (phone_index) DO UPDATE SET lifted_at = greatest(l.lifted_at, excluded.lifted_at)
  )
  DELETE FROM suppressions s USING g
  WHERE s.phone_index = g.phone_index AND s.source <> 'operator' AND s.created_at < g.at`;

/** Lifts suppressions that are older than the wish for messages; never an operator's. How many there were. */
export async function resumePhones(
  database: Database,
  phones: readonly { readonly phoneIndex: string; readonly at: Date }[],
): Promise<number> {
  if (phones.length === 0) return 0;
  const { rowCount } = await database.query(RESUME, [
    phones.map(({ phoneIndex }) => phoneIndex),
    phones.map(({ at }) => at),
  ]);
  return rowCount ?? 0;
}

const LIFT = `
  WITH gone AS (DELETE FROM suppressions WHERE phone_index = $1::uuid RETURNING phone_index)
  INSERT INTO suppression_lifts (phone_index, lifted_at) SELECT phone_index, now() FROM gone
  ON CONFLICT (phone_index) DO UPDATE SET lifted_at = excluded.lifted_at`;

/** Lifts a suppression, whoever asked for it; false where there is none. */
export async function deleteSuppression(database: Database, phoneIndex: string): Promise<boolean> {
  return (await database.query(LIFT, [phoneIndex])).rowCount === 1;
}

const FORGET_LIFTS = "DELETE FROM suppression_lifts WHERE lifted_at < now() - interval '30 days'";

/** Forgets returns that are so old that no older wish can come any more. */
export async function forgetLifts(database: Database): Promise<void> {
  await database.query(FORGET_LIFTS);
}

/** Most suppressions in memory at once. */
const CHUNK = 1_000;

/** The cursor is text: a `Date` would lose the microseconds. */
const LIST = `
  SELECT phone_index, source, created_at, created_at::text AS cursor FROM suppressions
  WHERE $1::timestamptz IS NULL OR (created_at, phone_index) < ($1, $2::uuid)
  ORDER BY created_at DESC, phone_index DESC LIMIT ${CHUNK}`;

/** All suppressions, newest first. */
export async function* readSuppressions(database: Database): AsyncGenerator<Suppression, void, undefined> {
  let last: Row | undefined;
  for (;;) {
    const { rows }: { rows: Row[] } = await database.query<Row>(LIST, [
      last?.cursor ?? null,
      last?.phone_index ?? null,
    ]);
    for (const { phone_index, source, created_at } of rows) {
      yield { phoneIndex: phone_index.replaceAll('-', ''), source, createdAt: created_at };
    }
    if (rows.length < CHUNK) return;
    last = rows.at(-1) as Row;
  }
}

interface Row {
  phone_index: string;
  source: SuppressionSource;
  created_at: Date;
  cursor: string;
}
