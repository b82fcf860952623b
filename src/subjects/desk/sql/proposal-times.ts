/**
 * Corrects the times of open proposals after the database's clock has stepped (D39; docs/operators.md, "Proposals").
 * Reads and writes `open_proposals` and `proposals`.
 */
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { MACED_PROPOSAL, type MacedProposal, movedMac } from './proposal-macs.ts';

/** The most rows that are moved at once, because the time of a statement is limited. */
const MOVED_AT_ONCE = 2_000;
/**
 * Keeps a time within what a row may hold, so that somebody who writes wrong rows cannot stop the correction of the
 * others.
 */
const kept = (time: string) => `least(greatest(${time}, '2000-01-01Z'), '9999-12-31Z')`;
/** A row of `open_proposals` may have no proposal. */
const MOVED = `
  SELECT h.application_id AS "placeId", h.now, ${kept('h.due_at + h.step')} AS "dueAt",
    date_trunc('milliseconds', ${kept('p.apply_at + h.step')}) AS "movedTo", ${MACED_PROPOSAL}
  FROM held h LEFT JOIN proposals p ON p.id = h.proposal_id`;
/**
 * The clock went back. A proposal with a stamp in the future gets its whole time again, and does not wait for the old
 * clock.
 */
const WENT_BACK = `
  WITH held AS MATERIALIZED (
    SELECT o.application_id, o.proposal_id, o.due_at, clock_timestamp() AS now, clock_timestamp() - o.stamped_at AS step
    FROM open_proposals o WHERE o.stamped_at > clock_timestamp()
    ORDER BY o.application_id LIMIT ${MOVED_AT_ONCE} FOR UPDATE
  ) ${MOVED}`;
/** The clock leapt ahead. A proposal from before keeps the time that it had left. Each leap moves a row once. */
const LEAPT = `
  WITH held AS MATERIALIZED (
    SELECT o.application_id, o.proposal_id, o.due_at, clock_timestamp() AS now, $2 * interval '1 millisecond' AS step
    FROM open_proposals o WHERE o.stamped_at <= $1 ORDER BY o.application_id LIMIT ${MOVED_AT_ONCE} FOR UPDATE
  ) ${MOVED}`;
const WRITE = `
  WITH moved AS (
    UPDATE open_proposals o SET stamped_at = u.now, due_at = u.due_at
    FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS u(id, now, due_at) WHERE o.application_id = u.id
  )
  UPDATE proposals p SET apply_at = u.apply_at, mac = u.mac
  FROM unnest($4::bigint[], $5::timestamptz[], $6::bytea[]) AS u(id, apply_at, mac) WHERE p.id = u.id`;

/** Corrects times that were written while the clock was ahead. */
export async function mendAhead(database: Database, vault: Vault): Promise<void> {
  await moveAll(database, vault, WENT_BACK, []);
}

/** Moves the times of what was open at `before` by a leap of the clock, so that nobody loses the time to undo. */
export async function moveByLeap(
  database: Database,
  vault: Vault,
  before: Date,
  leapMs: number,
): Promise<void> {
  await moveAll(database, vault, LEAPT, [before, leapMs]);
}

interface MovedRow extends MacedProposal {
  /** The application; the proposal itself may be absent, and then so are its members. */
  placeId: string;
  now: Date;
  dueAt: Date;
  movedTo: Date;
}

async function moveAll(
  database: Database,
  vault: Vault,
  text: string,
  values: readonly unknown[],
): Promise<void> {
  let moved = MOVED_AT_ONCE;
  while (moved === MOVED_AT_ONCE) {
    moved = await inTransaction(database, async (session) => {
      const { rows } = await session.query<MovedRow>(text, [...values]);
      // A forged row stays as it is, and goes back to its maker when it is due.
      const own = rows.flatMap((row) => {
        const mac = row.id === null ? null : movedMac(vault, row, row.movedTo);
        return mac === null ? [] : [{ ...row, mac }];
      });
      await session.query(WRITE, [
        ...[rows.map((row) => row.placeId), rows.map((row) => row.now)],
        ...[rows.map((row) => row.dueAt), own.map((row) => row.id), own.map((row) => row.movedTo)],
        own.map((row) => row.mac),
      ]);
      return rows.length;
    });
  }
}
