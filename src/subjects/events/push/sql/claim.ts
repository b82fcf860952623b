/** Claims pushes that are due, by `claim_pushes`, which reads and writes `pushes` (README.md, "Claim"). */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Session } from '../../../../ground/postgres/database.ts';

/** An attempt that this process has to make now. */
export interface ClaimedPush {
  readonly partnerId: PartnerId;
  /** The number of the event. */
  readonly number: number;
  /** From 1. */
  readonly attempt: number;
  /** Which setting of the endpoint the attempt is for. */
  readonly version: number;
}

/** Most attempts that a process has under way for one partner. */
export const MOST_UNDERWAY = 16;
/** About the most attempts of one turn. They begin together, and new events wait for them. */
const LIMIT = 100;
/**
 * From the claim on, other processes leave the push alone for this time. Reading the event, the attempt and its record
 * take less.
 */
const LEASE_MS = 30_000;

/** The time is a number, because the driver takes longer to read a time. */
const CLAIM = `
  SELECT partner_id AS "partnerId", number::float8, attempt, version,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"
  FROM claim_pushes($1, $2, $3, $4, $5 * interval '1 millisecond')`;

/**
 * Leases about 100 due pushes, at most 16 a partner together with those under way. `held` has the partner of each push
 * under way. `nowMs` is the database's time (D39), and 0 if nothing is due.
 */
export async function claimPushes(
  session: Session,
  held: readonly PartnerId[],
): Promise<{ claimed: ClaimedPush[]; nowMs: number }> {
  const underway = Map.groupBy(held, (partnerId) => partnerId);
  const { rows } = await session.query<ClaimedPush & { readonly nowMs: number }>({
    name: 'claim_pushes',
    text: CLAIM,
    values: [
      [...underway.keys()],
      [...underway.values()].map((some) => some.length),
      MOST_UNDERWAY,
      LIMIT,
      LEASE_MS,
    ],
  });
  return { claimed: rows.map(({ nowMs: _, ...push }) => push), nowMs: rows[0]?.nowMs ?? 0 };
}
