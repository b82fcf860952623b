/** A contract, as operators see it. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { OperatorError } from '../../operations/operator-context.ts';
import type { Database } from '../../postgres/database.ts';
import { readContract, type StoredContract } from '../sql/contracts.ts';
import { type Evidence, readEvidence } from '../sql/evidence.ts';
import { type FinishContext, finishContract } from './finish-contract.ts';
import { readShown } from './make-contract.ts';

export interface ShownContract {
  readonly contract: StoredContract;
  readonly evidence: readonly Evidence[];
}

/**
 * The contract of an application with its evidence; nothing of it is personal. Throws `OperatorError` where none is.
 */
export async function showContract(database: Database, id: ApplicationId): Promise<ShownContract> {
  const contract = await readContract(database, id);
  if (contract === null) throw new OperatorError(`application ${id} has no contract`);
  return { contract, evidence: await readEvidence(database, id) };
}

/**
 * The PDF of an application's contract: the signed one with its certificate, or the shown one. Throws `OperatorError`
 * where there is none, or while the signed one is being made.
 */
export async function writtenContract(context: FinishContext, id: ApplicationId): Promise<Buffer> {
  const { contract } = await showContract(context.database, id);
  if (contract.signedAt === null) return readShown(context, contract);
  const finished = await finishContract(context, id);
  if (finished === null) {
    throw new OperatorError(
      `the signed contract of application ${id} is not made yet: try again in a minute, with a certificate set`,
    );
  }
  return finished.bytes;
}
