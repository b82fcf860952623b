/**
 * Records the results of attempts, by `record_pushes`, which also judges the endpoint and writes `pushes`,
 * `push_attempts` and `partner_endpoints` (README.md, "Record").
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { columnsOf } from '../../../../ground/postgres/columns.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import type { DisabledReason, PushAttemptResult, PushFailure } from '../rules/failures.ts';
import type { ClaimedPush } from './claim.ts';

/** The end of one attempt. */
export interface PushRecord extends ClaimedPush {
  readonly result: PushAttemptResult;
  /** null without a failure. */
  readonly failure: PushFailure | null;
  /** How long a push that was not delivered waits. */
  readonly waitMs: number;
}

/** A change of an endpoint that operators should learn about. */
export interface EndpointChange {
  readonly partnerId: PartnerId;
  /** null if only pushes were given up. */
  readonly change: 'broken' | 'mended' | 'disabled' | null;
  /** Why the endpoint is disabled, or its last failure. */
  readonly reason: DisabledReason | PushFailure | null;
  /** Pushes that were given up after three days. */
  readonly givenUp: number;
}

const RECORD = `
  SELECT partner_id AS "partnerId", change, reason, given_up AS "givenUp"
  FROM record_pushes($1, $2, $3, $4, $5, $6, $7)`;
const RECORDED = ['partnerId', 'version', 'number', 'attempt', 'result', 'failure', 'waitMs'] as const;

/**
 * Records attempts. An attempt that is not the last one of its push does not change the push. An attempt for an earlier
 * setting of the endpoint changes nothing at all.
 */
export async function recordPushes(
  database: Database,
  records: readonly PushRecord[],
): Promise<EndpointChange[]> {
  const { rows } = await database.query<EndpointChange>({
    name: 'record_pushes',
    text: RECORD,
    values: columnsOf(records, ...RECORDED),
  });
  return rows;
}
