/** What was stored of an applicant whom an erasure took away meanwhile. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { eraseIncomeEvidence } from '../sql/income-checks.ts';
import { dropSteps } from '../sql/income-steps.ts';

/** Takes away what was just stored of an applicant who is erased by now: the erasure did not see it. */
export async function forgetErased(database: Database, id: ApplicationId): Promise<void> {
  if ((await stillThere(database, [id])).length > 0) return;
  await inTransaction(database, async (session) => {
    await eraseIncomeEvidence(session, [id]);
    await dropSteps(session, [id]);
  });
}
