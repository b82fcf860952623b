/**
 * Notes when troubles begin and end, by the rules of `status` (docs/monitoring.md, "The history of troubles"). Any
 * number of processes may do this: one of them looks, about every 15 seconds.
 */
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { knownSince, troublesOf } from '../rules/troubles.ts';
import { readStoreFacts } from '../sql/store-facts.ts';
import { noteStanding, takeLook } from '../sql/troubles.ts';

/** No trouble depends on the numbers of one partner. */
const PARTNERS = 0;

export function noteTroubles({ database }: { readonly database: Database }): Promise<void> {
  return inTransaction(database, async (session) => {
    if (!(await takeLook(session))) return;
    const facts = await readStoreFacts(session, PARTNERS);
    const troubles = troublesOf(facts);
    await noteStanding(
      session,
      troubles.map((trouble) => ({ ...trouble, beganAt: knownSince(trouble, facts) ?? facts.at })),
    );
  });
}
