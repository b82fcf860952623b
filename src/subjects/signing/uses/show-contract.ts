/**
 * Shows an application's contract, its evidence and its PDF to operators (docs/signing.md). Reads `loan_contracts`,
 * `contract_evidence` and the document store.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { readEnd } from '../sql/blocks.ts';
import { PLANNED, readContract, type StoredContract } from '../sql/contracts.ts';
import { type Evidence, readEvidence } from '../sql/evidence.ts';
import { type DueInstallment, installmentsOf } from './due-installments.ts';
import { finalSchedule } from './final-schedule.ts';
import { type FinishContext, finishContract } from './finish-contract.ts';
import { readShown } from './make-contract.ts';

export interface ShownContract {
  readonly contract: StoredContract;
  readonly evidence: readonly Evidence[];
}

/** The contract of an application with its evidence, without personal data. Throws `OperatorError` if there is none. */
export async function showContract(
  { database, vault }: Pick<FinishContext, 'database' | 'vault'>,
  id: ApplicationId,
): Promise<ShownContract> {
  const contract = await readContract(database, id);
  if (contract === null) throw await noContract(database, id);
  return { contract, evidence: (await readEvidence(database, vault, id)).rows };
}

const STATES = {
  making: 'it is being made',
  expired: 'it expired before it was signed',
  begun: 'it is not made yet',
} as const;

/** Says that an application has no contract, and why, as far as the store knows. */
export async function noContract(session: Session, id: ApplicationId): Promise<OperatorError> {
  const end = await readEnd(session, id);
  const why =
    end === null
      ? ''
      : end.state === 'blocked'
        ? `: it is blocked by ${end.reason} (docs/signing.md)`
        : `: ${STATES[end.state]}`;
  return new OperatorError(`application ${id} has no contract${why}`);
}

/**
 * The PDF of an application's contract: the signed one with its certificate, or the shown one. Throws `OperatorError`
 * if there is none, or while the signed one is being made.
 */
export async function writtenContract(context: FinishContext, id: ApplicationId): Promise<Buffer> {
  const { contract } = await showContract(context, id);
  if (contract.signedAt === null) return readShown(context, contract);
  const finished = await finishContract(context, id);
  if (finished === null) {
    throw new OperatorError(
      `the signed contract of application ${id} is not made yet: try again in a minute, with a certificate set`,
    );
  }
  return finished.bytes;
}

export { PLANNED };

/** The installments of a loan that is paid out, with their days. Throws `OperatorError` if there are none. */
export async function shownInstallments(
  { database }: Pick<FinishContext, 'database'>,
  id: ApplicationId,
): Promise<readonly DueInstallment[]> {
  const contract = await readContract(database, id);
  if (contract === null) throw await noContract(database, id);
  const installments = installmentsOf(contract);
  if (installments === null)
    throw new OperatorError(`application ${id} has no final schedule: no payment with lines is recorded`);
  return installments;
}

/** The PDF of the final schedule. Throws `OperatorError` if there is none, or while it is being made. */
export async function writtenSchedule(context: FinishContext, id: ApplicationId): Promise<Buffer> {
  const made = await finalSchedule(context, id);
  if (typeof made === 'object') return made.bytes;
  throw new OperatorError(
    `the final schedule of application ${id} is not made yet: try again in a minute, with a certificate set`,
  );
}
