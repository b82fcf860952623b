/**
 * Deletes what was stored about an applicant during an erasure: checks and sessions of the income (docs/subject.md,
 * "Erase").
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { eraseIncomeEvidence } from '../sql/income-checks.ts';
import { dropSteps } from '../sql/income-steps.ts';

/** Deletes what was just stored about an applicant who is erased by now, because the erasure could not see it. */
export async function forgetErased(database: Database, id: ApplicationId): Promise<void> {
  if ((await stillThere(database, [id])).length > 0) return;
  await inTransaction(database, async (session) => {
    await eraseIncomeEvidence(session, [id]);
    await dropSteps(session, [id]);
  });
}
