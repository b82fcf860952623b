/**
 * The lines of a payment that an operator proposes and a second one confirms (D46, D48): judges them as the payment
 * itself is judged, and seals them with the secret of the contract for as long as they wait. Writes nothing.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { PaidLine, PaymentObjection } from '../../../domain/loan/disbursement.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { openWith, sealWith } from '../../documents/store/sealed-file.ts';
import { LineError } from '../rules/disbursement-lines.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { readContract, type StoredContract } from '../sql/contracts.ts';
import { judge } from './disburse.ts';

interface LinesContext {
  readonly session: Session;
  readonly vault: Vault;
}

/** Judged lines. `sealed`: for the row of the proposal; null: the application has no signed contract. */
export interface ProposedLines {
  readonly sealed: Buffer | null;
  readonly objections: readonly PaymentObjection[];
  /** The objections in one line. */
  readonly text: string;
}

/** Judges and seals the lines of a proposal. Throws `OperatorError` for lines that no override lifts. */
export async function proposedLines(
  context: LinesContext & { readonly terms: () => Promise<Terms | null> },
  id: ApplicationId,
  proposalId: number,
  lines: readonly PaidLine[],
): Promise<ProposedLines> {
  const contract = await readContract(context.session, id);
  if (contract?.state !== 'signed') {
    if (lines.length === 0) return { sealed: null, objections: [], text: '' };
    throw new OperatorError('lines are for an application with a signed contract');
  }
  try {
    const { objections, text, lines: checked } = await judge(context, contract, lines);
    const told = checked.map(({ payee, amount, reference, valueDate }) => ({
      ...{ payee, amount, reference, valueDate },
    }));
    const bytes = Buffer.from(JSON.stringify(told));
    const sealed = sealWith(openSecret(context.vault, contract), bytes, identityOf(proposalId));
    return { sealed, objections, text };
  } catch (error) {
    if (error instanceof LineError) throw new OperatorError(error.message);
    throw error;
  }
}

/**
 * The lines of a proposed payment, and what stands against them by now: nothing where the application has no signed
 * contract. `lines` null: they do not open. `sealed` null: the proposal has none.
 */
export async function lookAtPayment(
  context: LinesContext & { readonly terms: () => Promise<Terms | null> },
  id: ApplicationId,
  proposalId: number,
  sealed: Buffer | null,
): Promise<{ lines: readonly PaidLine[] | null; objections: readonly PaymentObjection[] }> {
  const contract = await readContract(context.session, id);
  const lines = sealed === null ? [] : contract && openedOrNull(context.vault, contract, proposalId, sealed);
  if (contract?.state !== 'signed') return { lines, objections: [] };
  try {
    return { lines, objections: (await judge(context, contract, lines ?? [])).objections };
  } catch (error) {
    // They were right when they were proposed.
    if (error instanceof LineError) return { lines, objections: ['lines_differ'] };
    throw error;
  }
}

/** Opens the lines of a proposal. Null: its contract is gone. Throws an `Error` if they were changed. */
export async function openProposed(
  { session, vault }: LinesContext,
  id: ApplicationId,
  proposalId: number,
  sealed: Buffer,
): Promise<readonly PaidLine[] | null> {
  const contract = await readContract(session, id);
  return contract && opened(vault, contract, proposalId, sealed);
}

function opened(
  vault: Vault,
  contract: StoredContract,
  proposalId: number,
  sealed: Buffer,
): readonly PaidLine[] {
  const bytes = openWith(openSecret(vault, contract), sealed, identityOf(proposalId));
  return JSON.parse(bytes.toString()) as PaidLine[];
}

function openedOrNull(...of: Parameters<typeof opened>): ReturnType<typeof opened> | null {
  try {
    return opened(...of);
  } catch {
    return null;
  }
}

/** The name that lines are sealed under, so that those of another proposal do not open. */
function identityOf(proposalId: number): string {
  return `proposed payment:${proposalId}`;
}
