/**
 * The versions of policies: drafts, ready ones, and which one is live (D30, D51; docs/policy.md, "Versions"). Reads and
 * writes `policies` and `policy_drafts`; activates by `activate_policy`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Constants } from '../../../domain/scorecard/constants.ts';
import { cardOfContent, newConstantsOf, type PolicyContent } from '../../../domain/scorecard/content.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import { type Database, onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { digestOf } from './digest.ts';

export type PolicyState = 'draft' | 'ready' | 'live' | 'retired';

/** A policy that can decide. */
export interface StoredPolicy {
  readonly id: number;
  readonly content: PolicyContent;
  readonly constants: Constants;
  readonly card: Card;
}

/** A policy as it is stored. The last two are null of a policy that version 1.0 stored and no later one used. */
export interface PolicyRow {
  readonly id: number;
  readonly content: PolicyContent;
  readonly constants: Constants | null;
  readonly sha256: string | null;
}

const COLUMNS = "p.id, p.content, p.constants, encode(p.sha256, 'hex') AS sha256";

/** Cards are pure, so two stores of a process may share one. Bound: as many as a store has in use at once. */
const CARDS = new Map<string, Card>();
const MOST_CARDS = 64;

/** The policy of a row. */
export function storedPolicyOf({ id, content, constants, sha256 }: PolicyRow): StoredPolicy {
  if (constants === null || sha256 === null) {
    const computed = newConstantsOf(content);
    return { id, content, constants: computed, card: cardOfContent(content, computed) };
  }
  const key = `${sha256} ${constants.factor}`;
  const card = CARDS.get(key) ?? cardOfContent(content, constants);
  if (CARDS.size >= MOST_CARDS) CARDS.clear();
  CARDS.set(key, card);
  return { id, content, constants, card };
}

/** A `PolicyRow` as one column, of the table `policies p`. */
export const POLICY_AS_JSON = `(SELECT to_json(r) FROM (SELECT ${COLUMNS}) AS r)`;

const FIND = `SELECT ${COLUMNS} FROM policies p WHERE p.version = $1`;

/** A version that is ready, live or retired; null: there is none. */
export async function findPolicy(session: Session, version: string): Promise<StoredPolicy | null> {
  const [row] = (await session.query<PolicyRow>(FIND, [version])).rows;
  return row === undefined ? null : storedPolicyOf(row);
}

const OF_IDS = `SELECT ${COLUMNS} FROM policies p WHERE p.id = ANY ($1::smallint[])`;

/** The policies with these ids. */
export async function readPolicies(
  session: Session,
  ids: readonly number[],
): Promise<Map<number, StoredPolicy>> {
  const { rows } = await session.query<PolicyRow>(OF_IDS, [ids]);
  return new Map(rows.map((row) => [row.id, storedPolicyOf(row)]));
}

const OF_APPLICATION = `
  SELECT ${COLUMNS} FROM applications_of(ARRAY[$1::bigint]) a JOIN policies p ON p.id = a.policy_id`;

/** The policy that decided an application; null if there is no such application. */
export async function policyOf(session: Session, id: ApplicationId): Promise<StoredPolicy | null> {
  const [row] = (await session.query<PolicyRow>(OF_APPLICATION, [id])).rows;
  return row === undefined ? null : storedPolicyOf(row);
}

/** By a function of the owner, as an activation that follows in the transaction (activate.sql says why). */
const ADD = "SELECT add_policy($1::smallint, $2, $3, $4, decode($5, 'hex'), $6, $7)";
/** PostgreSQL's code: another process has made the row meanwhile. */
const IS_THERE = '23505';

/** Who made a version ready, and which warnings were accepted for it. */
export interface Readiness {
  readonly by: string;
  readonly accepted: readonly string[];
}

/**
 * Makes a version ready: stores it with its constants, unless its version is there. `isSame` says whether what is there
 * has the same content.
 */
export async function addPolicy(
  session: Session,
  content: PolicyContent,
  { by, accepted }: Readiness,
): Promise<{ policy: StoredPolicy; isSame: boolean }> {
  const found = await findPolicy(session, content.version);
  if (found !== null) return { policy: found, isSame: digestOf(found.content) === digestOf(content) };
  const id = await takeId(session, 'policies');
  const constants = newConstantsOf(content);
  const values = [JSON.stringify(content), JSON.stringify(constants), digestOf(content)];
  await session.query(ADD, [id, content.version, ...values, by, accepted]);
  const policy = { id, content, constants, card: cardOfContent(content, constants) };
  return { policy, isSame: true };
}

/** The same outside of a transaction, where another process may store the version at the same moment. */
export async function addPolicyOnce(database: Database, content: PolicyContent, readiness: Readiness) {
  try {
    return await addPolicy(database, content, readiness);
  } catch (error) {
    if (errorCode(error) !== IS_THERE) throw error;
    return addPolicy(database, content, readiness);
  }
}

const WITHOUT_CONSTANTS = `SELECT ${COLUMNS} FROM policies p WHERE p.constants IS NULL`;
const KEEP_CONSTANTS = "SELECT keep_policy_constants($1::smallint, $2, decode($3, 'hex'))";

/** Computes and stores what policies of version 1.0 decide with, once (`form-1.ts` says why). */
export async function keepConstants(database: Database): Promise<void> {
  for (const { id, content } of (await database.query<PolicyRow>(WITHOUT_CONSTANTS)).rows) {
    await database.query(KEEP_CONSTANTS, [id, JSON.stringify(newConstantsOf(content)), digestOf(content)]);
  }
}

/** The live policy, and the activation that made it so. */
export interface LivePolicyRow extends StoredPolicy {
  readonly activationId: number;
}

const LIVE_ID = 'SELECT policy_id AS id FROM policy_live';
const LIVE = `
  SELECT ${COLUMNS}, l.activation_id::float8 AS "activationId" FROM policy_live l JOIN policies p ON p.id = l.policy_id`;

/** The id of the live policy; null: none has been activated yet. */
export async function readLiveId(session: Session): Promise<number | null> {
  return (await session.query<{ id: number | null }>(LIVE_ID)).rows[0]?.id ?? null;
}

/** The live policy; null: none has been activated yet. */
export async function readLive(session: Session): Promise<LivePolicyRow | null> {
  const [row] = (await session.query<PolicyRow & { activationId: number }>(LIVE)).rows;
  return row === undefined ? null : { ...storedPolicyOf(row), activationId: row.activationId };
}

const ACTIVATE =
  'SELECT activate_policy($1, $2::smallint, $3::bigint, $4, $5, $6, $7, $8::bigint)::float8 AS "activationId"';

export interface Activation {
  readonly policyId: number;
  /** The activation that is live as the caller knows it; null: none. */
  readonly after: number | null;
  readonly by: string;
  /** The second operator; null: the command line, and a store's first policy. */
  readonly second: string | null;
  readonly reason: string;
  readonly accepted: readonly string[];
  /** The stored backtest that it rests on; null: none is named. */
  readonly backtest: number | null;
}

/**
 * Makes a policy the live one. False: another one was activated meanwhile. Throws where the version is withdrawn, and
 * where the backtest is of another one.
 */
export async function activatePolicy(session: Session, activation: Activation): Promise<boolean> {
  const { policyId, after, by, second, reason, accepted, backtest } = activation;
  const id = await takeId(session, 'policy_activations');
  const values = [id, policyId, after, by, second, reason, accepted, backtest];
  const { rows } = await session.query<{ activationId: number | null }>(ACTIVATE, values);
  return rows[0]?.activationId !== null;
}

/** An activation as it is stored: who made which version live, when and why. */
export interface StoredActivation {
  readonly id: number;
  readonly version: string;
  readonly at: Date;
  readonly by: string;
  /** The second operator; null: the command line, and a store's first policy. */
  readonly second: string | null;
  readonly reason: string;
  /** The warnings that were accepted for it. */
  readonly accepted: readonly string[];
  /** The stored backtest that it rests on; null: none is named. */
  readonly backtest: number | null;
}

/** A row whose policy is not there has the version ''. */
const ACTIVATIONS = `
  SELECT a.id::float8, coalesce(p.version, '') AS version, a.at, a.actor AS by, a.second_actor AS second, a.reason,
    a.accepted, a.backtest_id::float8 AS backtest
  FROM policy_activations a LEFT JOIN policies p ON p.id = a.policy_id ORDER BY a.id`;

const NEWEST = `${ACTIVATIONS} DESC LIMIT $1`;

/** The newest activations, the last one first. */
export async function newestActivations(session: Session, most: number): Promise<StoredActivation[]> {
  return (await session.query<StoredActivation>(NEWEST, [most])).rows;
}

/** All activations, the oldest first: one an act of an operator. */
export async function listActivations(session: Session): Promise<StoredActivation[]> {
  return (await session.query<StoredActivation>(ACTIVATIONS)).rows;
}

/** A version as `policy list` shows it. */
export interface PolicyVersion {
  readonly version: string;
  readonly state: PolicyState;
  readonly isWithdrawn: boolean;
  readonly title: string | null;
  readonly sha256: string | null;
  readonly addedBy: string | null;
  readonly addedAt: Date;
  readonly accepted: readonly string[];
  /** The last activation; null: there was none. */
  readonly activatedAt: Date | null;
  readonly activatedBy: string | null;
  readonly second: string | null;
  readonly reason: string | null;
  /** The stored backtest that it rests on. */
  readonly backtest: number | null;
}

/** Version 1.0 stored a policy when it began to decide with it: what it stored and is not live now is retired. */
const LIST = `
  SELECT p.version, CASE WHEN l.policy_id IS NOT NULL THEN 'live'
      WHEN a.at IS NOT NULL OR p.withdrawn_at IS NOT NULL OR p.added_by IS NULL THEN 'retired' ELSE 'ready' END AS state,
    p.withdrawn_at IS NOT NULL AS "isWithdrawn", p.content ->> 'title' AS title, encode(p.sha256, 'hex') AS sha256, p.added_by AS "addedBy",
    p.first_used_at AS "addedAt", p.accepted, a.at AS "activatedAt", a.actor AS "activatedBy", a.second_actor AS second,
    a.reason, a.backtest_id::float8 AS backtest
  FROM policies p
  LEFT JOIN policy_live l ON l.policy_id = p.id
  LEFT JOIN LATERAL (
    SELECT v.at, v.actor, v.second_actor, v.reason, v.backtest_id FROM policy_activations v WHERE v.policy_id = p.id
    ORDER BY v.id DESC LIMIT 1) AS a ON true
  UNION ALL
  SELECT d.version, 'draft', false, d.content ->> 'title', NULL, d.actor, d.added_at, '{}', NULL, NULL, NULL, NULL, NULL
  FROM policy_drafts d
  ORDER BY "activatedAt" DESC NULLS FIRST, "addedAt" DESC, version`;

/** All versions: drafts and those never activated first, then by their last activation, the newest first. */
export async function listPolicies(session: Session): Promise<PolicyVersion[]> {
  return (await session.query<PolicyVersion>(LIST)).rows;
}

const ADD_DRAFT = 'INSERT INTO policy_drafts (version, content, actor) VALUES ($1, $2, $3)';
const PUT_DRAFT = `
  INSERT INTO policy_drafts AS d (version, content, actor) VALUES ($1, $2, $3)
  ON CONFLICT (version) DO UPDATE SET content = excluded.content, actor = excluded.actor, added_at = excluded.added_at`;
const DRAFTS = 'SELECT count(*)::integer AS count FROM policy_drafts WHERE version <> $1';
const FIND_DRAFT = 'SELECT content FROM policy_drafts WHERE version = $1';
const LOCK_DRAFT = 'SELECT content FROM policy_drafts WHERE version = $1 FOR UPDATE';
const DROP_DRAFT = 'DELETE FROM policy_drafts WHERE version = $1';

/** The most drafts of a store: operators delete those that nobody needs. */
export const MOST_DRAFTS = 100;

/**
 * Stores a draft in the place of an earlier one. `isNew`: where there is one, it fails (23505). False: the store has
 * `MOST_DRAFTS` others.
 */
export async function putDraft(
  session: Session,
  content: PolicyContent,
  by: string,
  isNew = false,
): Promise<boolean> {
  const { rows } = await session.query<{ count: number }>(DRAFTS, [content.version]);
  if ((rows[0]?.count ?? 0) >= MOST_DRAFTS) return false;
  await session.query(isNew ? ADD_DRAFT : PUT_DRAFT, [content.version, JSON.stringify(content), by]);
  return true;
}

/** A draft; null: there is none. */
export async function findDraft(session: Session, version: string): Promise<PolicyContent | null> {
  const { rows } = await session.query<{ content: PolicyContent }>(FIND_DRAFT, [version]);
  return rows[0]?.content ?? null;
}

/** Locks a draft up to the end of the transaction; null: there is none. */
export async function lockDraft(session: Transaction, version: string): Promise<PolicyContent | null> {
  const { rows } = await session.query<{ content: PolicyContent }>(LOCK_DRAFT, [version]);
  return rows[0]?.content ?? null;
}

/** Deletes a draft. False: there is none. */
export async function dropDraft(session: Session, version: string): Promise<boolean> {
  return (await session.query(DROP_DRAFT, [version])).rowCount === 1;
}

const TODAY = "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today";

/** Today in UTC, by the database's clock (D39). */
export async function readToday(session: Session): Promise<string> {
  return onlyRow((await session.query<{ today: string }>(TODAY)).rows).today;
}

const WITHDRAW = 'SELECT withdraw_policy($1, $2) AS done';

/** Withdraws a version that is ready and was never live. False: there is none. */
export async function withdrawPolicy(session: Session, version: string, by: string): Promise<boolean> {
  return (await session.query<{ done: boolean }>(WITHDRAW, [version, by])).rows[0]?.done === true;
}
