/** Shows the lines of an application's payment to operators. Reads `loan_contracts` and `disbursements`. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { readContract } from '../sql/contracts.ts';
import { readLines, type StoredLine } from '../sql/disbursements.ts';
import { noContract } from './show-contract.ts';

export type { StoredLine };

/** The lines in their order, with the currency of the contract. */
export interface ShownLines {
  readonly currency: string;
  readonly lines: readonly StoredLine[];
}

interface LinesContext {
  readonly database: Session;
  readonly vault: Vault;
}

/** The lines of an application; null: it has no contract. */
export async function findLines(
  { database, vault }: LinesContext,
  id: ApplicationId,
): Promise<ShownLines | null> {
  const contract = await readContract(database, id);
  if (contract === null) return null;
  const lines = await readLines(database, contract.id, openSecret(vault, contract));
  return { currency: contract.terms.offer.currency, lines };
}

/** The same. Throws `OperatorError` if the application has no contract. */
export async function showLines(context: LinesContext, id: ApplicationId): Promise<ShownLines> {
  const found = await findLines(context, id);
  if (found === null) throw await noContract(context.database, id);
  return found;
}
