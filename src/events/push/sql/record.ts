/** Records what became of attempts. */
import type { Database } from '../../../postgres/database.ts';
import type { ClaimedPush } from './claim.ts';

/** The end of one attempt. */
export interface PushRecord extends ClaimedPush {
  /**
   * `delivered`, `failed` and `gone` (the endpoint said that it is gone for good) are about the endpoint. `unsent`: our
   * own data did not let the push go out. `forgotten`: the event was deleted for its age.
   */
  readonly result: 'delivered' | 'failed' | 'gone' | 'unsent' | 'forgotten';
  /** A short code; null without a failure. */
  readonly failure: string | null;
  /** How long a push that was not delivered waits. */
  readonly waitMs: number;
}

/** A change of an endpoint that its operator should hear of. */
export interface EndpointChange {
  readonly partnerId: number;
  /** null where only pushes were given up. */
  readonly change: 'broken' | 'mended' | 'disabled' | null;
  /** Why the endpoint is disabled, or its last failure. */
  readonly reason: string | null;
  /** Pushes that were given up after three days. */
  readonly givenUp: number;
}

interface ChangeRow {
  partner_id: number;
  change: EndpointChange['change'];
  reason: string | null;
  given_up: number;
}

const RECORD = 'SELECT partner_id, change, reason, given_up FROM record_pushes($1, $2, $3, $4, $5, $6, $7)';

/**
 * Records attempts. One that is not the last attempt of its push changes nothing on the push, and one for an earlier
 * setting of the endpoint changes nothing at all.
 */
export async function recordPushes(
  database: Database,
  records: readonly PushRecord[],
): Promise<EndpointChange[]> {
  const { rows } = await database.query<ChangeRow>({
    name: 'record_pushes',
    text: RECORD,
    values: [
      records.map(({ partnerId }) => partnerId),
      records.map(({ version }) => version),
      records.map(({ number }) => number),
      records.map(({ attempt }) => attempt),
      records.map(({ result }) => result),
      records.map(({ failure }) => failure),
      records.map(({ waitMs }) => waitMs),
    ],
  });
  return rows.map((row) => ({
    partnerId: row.partner_id,
    change: row.change,
    reason: row.reason,
    givenUp: row.given_up,
  }));
}
