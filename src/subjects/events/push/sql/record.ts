/** Records what became of attempts. */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { columnsOf } from '../../../../ground/postgres/columns.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import type { DisabledReason, PushFailure } from '../rules/failures.ts';
import type { ClaimedPush } from './claim.ts';

/** The end of one attempt. */
export interface PushRecord extends ClaimedPush {
  /**
   * `delivered`, `failed` and `gone` (the endpoint said that it is gone for good) are about the endpoint. `unsent`: our
   * own data did not let the push go out. `forgotten`: the event was deleted for its age.
   */
  readonly result: 'delivered' | 'failed' | 'gone' | 'unsent' | 'forgotten';
  /** null without a failure. */
  readonly failure: PushFailure | null;
  /** How long a push that was not delivered waits. */
  readonly waitMs: number;
}

/** A change of an endpoint that its operator should hear of. */
export interface EndpointChange {
  readonly partnerId: PartnerId;
  /** null where only pushes were given up. */
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
 * Records attempts. One that is not the last attempt of its push changes nothing on the push, and one for an earlier
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
