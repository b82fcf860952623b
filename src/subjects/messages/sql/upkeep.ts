/**
 * The upkeep of delivery: lost sends, old recipients and rejections, and times after a step of the clock
 * (docs/upkeep.md). Calls `settle_leases`, `forget_recipients`, `forget_rejections` and `mend_leap`.
 */
import { type PartnerId, toPartnerId } from '../../../domain/partner/credential.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';

const SETTLE = "SELECT lost, last FROM settle_leases($1, $2 * interval '1 millisecond')";

/**
 * Makes those messages uncertain whose process died between sending and recording; an operator may settle them after
 * `settleAfterMs`. Forgets leases whose messages are all recorded. Returns how many messages became uncertain.
 */
export async function findLost(database: Database, settleAfterMs: number): Promise<number> {
  let lost = 0;
  for (let last: string | null = '0'; last !== null; ) {
    const { rows }: { rows: { lost: string; last: string | null }[] } = await database.query(SETTLE, [
      last,
      settleAfterMs,
    ]);
    lost += Number(rows[0]?.lost ?? 0);
    last = rows[0]?.last ?? null;
  }
  return lost;
}

/** The most recipients that one statement deletes. */
const CHUNK = 5_000;
const FORGET_RECIPIENTS = 'SELECT forget_recipients($1) AS forgotten';

/** Deletes recipients that no limit needs any more. */
export async function forgetRecipients(database: Database): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ forgotten: number }>(FORGET_RECIPIENTS, [CHUNK]);
    if ((rows[0]?.forgotten ?? 0) < CHUNK) return;
  }
}

const FORGET_REJECTIONS = 'SELECT phone, partner, message FROM forget_rejections($1, $2, $3)';

interface RejectionKey {
  /** null: the end is reached. */
  readonly phone: string | null;
  readonly partner: PartnerId;
  readonly message: string;
}

/** A key before every blind index. */
const FIRST: RejectionKey = { phone: `${-(2n ** 63n)}`, partner: toPartnerId(0), message: '0' };

/** Deletes the notes about `rejected` messages that no longer wait (D42). */
export async function forgetRejections(database: Database): Promise<void> {
  for (let last = FIRST; last.phone !== null; ) {
    const { phone, partner, message } = last;
    const { rows } = await database.query<RejectionKey>(FORGET_REJECTIONS, [phone, partner, message]);
    last = onlyRow(rows);
  }
}

const MEND = 'SELECT mend_leap($1) AS after';

/**
 * If the database's clock has stepped back: corrects the times that were written while the clock was ahead. Returns
 * whether the clock has stepped back.
 */
export async function mendLeap(database: Database): Promise<boolean> {
  for (let after = '0'; ; ) {
    const { rows } = await database.query<{ after: string | null }>(MEND, [after]);
    const next = rows[0]?.after ?? null;
    if (next === null) return false;
    if (next === '0') return true;
    after = next;
  }
}
