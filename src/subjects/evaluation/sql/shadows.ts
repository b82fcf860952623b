/**
 * Shadows and their counts (D51; docs/policy.md, "Shadow"). Reads and writes `policy_shadows` and
 * `policy_shadow_counts`, and reads which activation is live. Counts and the place up to which a shadow has counted
 * change in one transaction.
 */
import type { Constants } from '../../../domain/scorecard/constants.ts';
import type { PolicyContent } from '../../../domain/scorecard/content.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

/** Why a shadow ended: an operator, its end date, another live policy, or a card that throws. */
export type EndedWhy = 'stopped' | 'end_date' | 'activation' | 'card_failed';

export interface NewShadow {
  readonly version: string;
  readonly content: PolicyContent;
  readonly constants: Constants;
  /** 64 hex digits. */
  readonly sha256: string;
  readonly live: { readonly id: number; readonly activationId: number };
  readonly actor: string;
  readonly days: number;
  /** The first batch number that counts. */
  readonly from: number;
}

const ADD = `
  INSERT INTO policy_shadows (id, version, content, constants, sha256, policy_id, activation_id, actor, ends_at, next_batch)
  VALUES ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, $8, now() + make_interval(days => $9), $10)
  RETURNING ends_at AS "endsAt"`;

/** Stores a shadow, and returns when it ends. Fails with a unique violation where one of the version runs. */
export async function addShadow(session: Session, shadow: NewShadow): Promise<Date> {
  const { version, content, constants, sha256, live, actor, days, from } = shadow;
  const id = await takeId(session, 'policy_shadows');
  const frozen = [version, JSON.stringify(content), JSON.stringify(constants), sha256];
  const values = [id, ...frozen, live.id, live.activationId, actor, days, from];
  return (await session.query<{ endsAt: Date }>(ADD, values)).rows[0]!.endsAt;
}

const RUNNING = 'SELECT count(*)::integer AS count FROM policy_shadows s WHERE s.ended_at IS NULL';

/** How many shadows run. */
export async function countRunning(session: Session): Promise<number> {
  return (await session.query<{ count: number }>(RUNNING)).rows[0]?.count ?? 0;
}

const RUNNING_OF = 'SELECT s.id::float8 FROM policy_shadows s WHERE s.version = $1 AND s.ended_at IS NULL';

/** The running shadow of a version; null: there is none. */
export async function findRunning(session: Session, version: string): Promise<number | null> {
  return (await session.query<{ id: number }>(RUNNING_OF, [version])).rows[0]?.id ?? null;
}

/**
 * What a page has counted is counted again where the end moves meanwhile. A card that throws also ends what is left of
 * a shadow that has ended.
 */
const END = `
  UPDATE policy_shadows s SET ended_at = coalesce(s.ended_at, t.now), ended_ms = coalesce(s.ended_ms, t.ms), ended_why = $2,
    until_batch = greatest(s.next_batch, $3::bigint)
  FROM (SELECT now() AS now, elapsed_ms() AS ms) AS t
  WHERE s.id = $1 AND (s.ended_at IS NULL OR $2 = 'card_failed' AND s.next_batch < s.until_batch)`;

/** Ends a shadow that counts no batch from the number `before` on. False: it has ended already. */
export async function endShadow(
  session: Session,
  id: number,
  why: EndedWhy,
  before: number,
): Promise<boolean> {
  return (await session.query(END, [id, why, before])).rowCount === 1;
}

/** A shadow that goes on, or has ended and still has batches to count. */
export interface OpenShadow {
  readonly id: number;
  readonly version: string;
  readonly content: PolicyContent;
  readonly constants: Constants;
  readonly sha256: string;
  /** The policy that decided what it counts. */
  readonly policyId: number;
  /** The first number that has not been counted. */
  readonly next: number;
  /** The first number that does not count; null: it goes on. */
  readonly until: number | null;
  /** Why it has to end now; null: it goes on, or has ended. */
  readonly due: EndedWhy | null;
}

const OPEN = `
  SELECT s.id::float8, s.version, s.content, s.constants, encode(s.sha256, 'hex') AS sha256, s.policy_id AS "policyId",
    s.next_batch::float8 AS next, s.until_batch::float8 AS until,
    CASE WHEN s.ended_at IS NOT NULL THEN NULL
      WHEN s.activation_id IS DISTINCT FROM (SELECT l.activation_id FROM policy_live l) THEN 'activation'
      WHEN s.ends_at <= now() THEN 'end_date' END AS due
  FROM policy_shadows s WHERE s.ended_at IS NULL OR s.next_batch < s.until_batch ORDER BY s.id`;

/** The shadows that have something to count, or to end. */
export async function openShadows(session: Session): Promise<OpenShadow[]> {
  return (await session.query<OpenShadow & Record<string, unknown>>(OPEN)).rows;
}

/** The counts of a day and partner, by the cells of the matrix. */
export interface DayCounts {
  readonly day: string;
  readonly partner_id: number;
  readonly counts: readonly number[];
}

/** The end as it was when the page was counted: another end may leave out some of it. */
const MOVE = `
  UPDATE policy_shadows SET next_batch = $3, damaged = damaged + $5
  WHERE id = $1 AND next_batch = $2 AND until_batch IS NOT DISTINCT FROM $4::bigint`;
const COUNT = `
  INSERT INTO policy_shadow_counts AS c (shadow_id, day, partner_id, counts)
  SELECT $1, g.day, g.partner_id, g.counts
  FROM jsonb_to_recordset($2::jsonb) AS g(day date, partner_id integer, counts bigint[]) ORDER BY g.day, g.partner_id
  ON CONFLICT (shadow_id, day, partner_id) DO UPDATE SET counts = added_counts(c.counts, excluded.counts)`;

/**
 * Adds what was counted of the batches up to `next`. False: another session has counted them, or the end has moved
 * meanwhile, and nothing is added.
 */
export async function addCounts(
  session: Transaction,
  { id, next: before, until }: OpenShadow,
  next: number,
  counted: { readonly days: readonly DayCounts[]; readonly damaged: number },
): Promise<boolean> {
  const moved = await session.query(MOVE, [id, before, next, until, counted.damaged]);
  if (moved.rowCount !== 1) return false;
  if (counted.days.length > 0) await session.query(COUNT, [id, JSON.stringify(counted.days)]);
  return true;
}

/** A shadow as it is stored, with its counts. */
export interface ShadowRow {
  readonly id: number;
  readonly version: string;
  readonly sha256: string;
  /** `ending`: it has ended, and some of what came before is still to be counted. */
  readonly state: 'running' | 'ending' | 'ended';
  /** The version whose decisions are those before. */
  readonly live: string;
  readonly started_by: string;
  readonly started_at: Date;
  readonly ends_at: Date;
  readonly ended_at: Date | null;
  readonly ended_why: EndedWhy | null;
  readonly damaged: number;
  /** By the cells of the matrix; null: nothing is counted. */
  readonly counts: readonly number[] | null;
}

/** Shadows of a list. */
const MOST = 200;
const LIST = `
  SELECT s.id::float8, s.version, encode(s.sha256, 'hex') AS sha256,
    CASE WHEN s.ended_at IS NULL THEN 'running' WHEN s.next_batch < s.until_batch THEN 'ending' ELSE 'ended' END AS state,
    p.version AS live, s.actor AS started_by, s.started_at, s.ends_at, s.ended_at, s.ended_why, s.damaged::float8,
    (SELECT array_agg(t.count ORDER BY t.n) FROM (
      SELECT u.n, sum(u.count)::float8 AS count
      FROM policy_shadow_counts c CROSS JOIN LATERAL unnest(c.counts) WITH ORDINALITY AS u(count, n)
      WHERE c.shadow_id = s.id GROUP BY u.n) AS t) AS counts
  FROM policy_shadows s JOIN policies p ON p.id = s.policy_id ORDER BY s.ended_at IS NOT NULL, s.id DESC LIMIT ${MOST}`;

/** The shadows: those that run first, then the newest first. */
export async function listShadows(session: Session): Promise<ShadowRow[]> {
  return (await session.query<ShadowRow & Record<string, unknown>>(LIST)).rows;
}
