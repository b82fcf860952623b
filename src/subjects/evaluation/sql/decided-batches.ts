/**
 * Walks over the stored batches, newest first, and reads what was decided: facts, partner and policy (D51). Reads
 * `batches` and `policies`; needs no key. A statement names one partition (docs/scale.md).
 */
import type { BatchId } from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { partitionsDown } from '../../applications/sql/partition-runs.ts';
import { POLICY_AS_JSON, type PolicyRow, storedPolicyOf } from '../../policies/sql/policies.ts';

/** A batch as it was decided. */
export interface DecidedBatch {
  readonly id: BatchId;
  readonly partnerId: PartnerId;
  readonly policyId: number;
  /** The day of the registration in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** `decidedAt` reads them. */
  readonly facts: Buffer;
}

/** Batches of a statement: a few megabytes of facts. */
const PAGE = 1_000;

/** Numbers of batches and their times go up together but for a few seconds, so the walk ends soon after `since`. */
const READ = `
  SELECT b.id, b.partner_id AS "partnerId", b.policy_id AS "policyId",
    to_char(b.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, b.facts
  FROM batches b WHERE b.id >= $1 AND b.id < $2 ORDER BY b.id DESC LIMIT ${PAGE}`;

/** Pages of batches, newest first, that were registered on or after the day `since`; null: all. */
export async function* decidedBatches(
  session: Session,
  since: string | null,
): AsyncGenerator<readonly DecidedBatch[], void, undefined> {
  for await (const { from, before } of partitionsDown(session)) {
    for (let end: BatchId = before; ; ) {
      const { rows } = await session.query<DecidedBatch>(READ, [from, end]);
      const wanted = since === null ? rows : rows.filter(({ day }) => day >= since);
      if (wanted.length > 0) yield wanted;
      // All of a page are older: so are all that follow.
      if (since !== null && rows.length > 0 && wanted.length === 0) return;
      if (rows.length < PAGE) break;
      end = rows.at(-1)!.id;
    }
  }
}

const CARDS = `SELECT ${POLICY_AS_JSON} AS policy FROM policies p`;

/** The cards of all policies that have decided, by their stored id. */
export async function readCards(session: Session): Promise<Map<number, Card>> {
  const { rows } = await session.query<{ policy: PolicyRow }>(CARDS);
  return new Map(rows.map(({ policy }) => [policy.id, storedPolicyOf(policy).card]));
}
