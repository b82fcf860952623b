/**
 * Reads proposals as operators see them, in lists and alone, and erases their free texts (D48; docs/operators.md,
 * "Proposals"). Reads `proposals` and `operators`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import type { ProposalState, SecondReason } from '../rules/proposal.ts';
import type { ReturnCode } from '../rules/returned.ts';
import { type By, by } from './names.ts';

/** A proposal, with the present names of its operators. */
export interface StoredProposal {
  readonly id: number;
  readonly applicationId: ApplicationId;
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly reason: string;
  readonly isOverride: boolean;
  readonly maker: By;
  readonly createdAt: Date;
  readonly applyAt: Date;
  readonly state: ProposalState;
  /** null: the maker decides alone. */
  readonly needsSecond: SecondReason | null;
  /** The sealed lines of an open payment; null: it has none, or it has ended. */
  readonly lines: Buffer | null;
  /** Who confirmed or declined it. */
  readonly second: By | null;
  readonly confirmedAt: Date | null;
  readonly endedAt: Date | null;
  readonly outcome: string | null;
  readonly returnedFor: ReturnCode | null;
}

/** Its id is a text: after a cast in the statement no index would give the order of both halves of a list. */
type Row = Omit<StoredProposal, 'id'> & { readonly id: string };

function proposalsOf(rows: readonly Row[]): StoredProposal[] {
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

const SHOWN = `
  SELECT p.id, p.application_id::float8 AS "applicationId", p.act, p.reason_code AS "reasonCode", p.reason,
    p.is_override AS "isOverride", ${by('p.maker_id', 'm')} AS maker, p.created_at AS "createdAt", p.apply_at AS "applyAt",
    p.state, p.needs_second AS "needsSecond", ${by('p.second_id', 's')} AS second, p.confirmed_at AS "confirmedAt",
    p.ended_at AS "endedAt", p.outcome, p.returned_for AS "returnedFor", p.lines
  FROM proposals p JOIN operators m ON m.id = p.maker_id LEFT JOIN operators s ON s.id = p.second_id`;
const ONE = `${SHOWN} WHERE p.id = $1`;
/** The most proposals in the timeline of an application. */
const MOST_REFUSED = 100;
const REFUSED = `${SHOWN}
  WHERE p.application_id = $1 AND p.state IN ('declined', 'returned') ORDER BY p.id DESC LIMIT ${MOST_REFUSED}`;
const NEWEST = `${SHOWN} WHERE p.application_id = $1 ORDER BY p.id DESC LIMIT 1`;

/** For how many days a maker is told what came back. */
const TOLD_DAYS = 7;
const IS_TOLD = `p.ended_at > now() - interval '${TOLD_DAYS} days' AND NOT EXISTS (
        SELECT FROM proposals n WHERE n.application_id = p.application_id AND n.id > p.id)`;
/** $1: the operator who asks; $2: the id that the page before ended with; $3: the most rows. */
const LISTS = {
  mine: `${SHOWN}
    WHERE p.maker_id = $1 AND p.state IN ('proposed', 'declined', 'returned') AND ($2::bigint IS NULL OR p.id < $2)
      AND (p.state = 'proposed' OR ${IS_TOLD})
    ORDER BY p.id DESC LIMIT $3`,
  came_back: ofBoth(
    ['p.maker_id = $1', "p.second_id = $1 AND p.state = 'returned'"],
    `p.state IN ('declined', 'returned') AND ${IS_TOLD} AND ($2::bigint IS NULL
      OR (p.ended_at, p.id) < (SELECT b.ended_at, b.id FROM proposals b WHERE b.id = $2))`,
    ['p.ended_at DESC, p.id DESC', '"endedAt" DESC, id DESC'],
  ),
  to_confirm: `${SHOWN}
    WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL AND p.maker_id <> $1
      AND ($2::bigint IS NULL OR p.id > $2)
    ORDER BY p.id LIMIT $3`,
  ended: ofBoth(
    ['p.maker_id = $1', 'p.second_id = $1'],
    "p.state <> 'proposed' AND ($2::bigint IS NULL OR p.id < $2)",
    ['p.id DESC', 'id DESC'],
  ),
} as const;

/**
 * The maker's proposals and the second operator's in one order. Each half reads its own index, because an OR would sort
 * all rows.
 */
function ofBoth(halves: readonly string[], where: string, order: readonly [string, string]): string {
  const read = halves.map((half) => `(${SHOWN} WHERE ${half} AND ${where} ORDER BY ${order[0]} LIMIT $3)`);
  return `SELECT u.* FROM (${read.join(' UNION ALL ')}) AS u ORDER BY ${order[1]} LIMIT $3`;
}

/**
 * `came_back`: declined or returned within a week, without a newer proposal on the application, the last one first. A
 * returned proposal also comes back to the operator who confirmed it. `mine`: these for the maker, and the open ones.
 * `ended`: those that the operator made, confirmed or declined.
 */
export type ProposalList = keyof typeof LISTS;

/** The proposal; null: there is none. */
export async function readProposal(session: Session, id: number): Promise<StoredProposal | null> {
  return proposalsOf((await session.query<Row>(ONE, [id])).rows)[0] ?? null;
}

/** The open proposal of an application, or else the newest one; null: there is none. */
export async function newestProposalOf(session: Session, id: ApplicationId): Promise<StoredProposal | null> {
  return proposalsOf((await session.query<Row>(NEWEST, [id])).rows)[0] ?? null;
}

/** The newest 100 proposals of an application that were declined or returned, the newest first. */
export async function refusedProposalsOf(session: Session, id: ApplicationId): Promise<StoredProposal[]> {
  return proposalsOf((await session.query<Row>(REFUSED, [id])).rows);
}

/** The next `limit` proposals of a list after the one with the id `after`; `after` null: from the beginning. */
export async function listProposals(
  session: Session,
  list: ProposalList,
  { operatorId, after, limit }: { operatorId: number; after: number | null; limit: number },
): Promise<StoredProposal[]> {
  return proposalsOf((await session.query<Row>(LISTS[list], [operatorId, after, limit])).rows);
}

const COUNT = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM proposals p
    WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL AND p.maker_id <> $1
    LIMIT $2) AS waiting`;

/** How many proposals wait for the operator to confirm them; counted up to `most`. */
export async function countToConfirm(session: Session, operatorId: number, most: number): Promise<number> {
  return onlyRow((await session.query<{ count: number }>(COUNT, [operatorId, most])).rows).count;
}

const ERASE = `
  UPDATE proposals SET reason = 'erased', lines = NULL, outcome = CASE WHEN outcome IS NOT NULL THEN 'erased' END
  WHERE application_id = ANY ($1::bigint[])`;

/** Replaces every free text about these applications by one word, and deletes the lines of proposed payments. */
export async function eraseProposals(session: Session, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(ERASE, [ids]);
}
