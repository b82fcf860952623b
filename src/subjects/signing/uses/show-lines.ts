/**
 * Shows operators what a contract says to pay, and the lines of its payment. Reads `loan_contracts`, `loan_debts` and
 * `disbursements`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Payee } from '../../../domain/loan/payees.ts';
import { moneyText, toMinor } from '../../../domain/money/money.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { balancesOf, foldPayee } from '../rules/disbursement-lines.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { readContract } from '../sql/contracts.ts';
import { readLines, type StoredLine } from '../sql/disbursements.ts';
import { payeesOfContract } from './contract-payees.ts';
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

/** What the contract says is paid to one payee, and how much of it is open: nothing was paid, or it came back. */
export interface PlannedPayee extends Pick<Payee, 'payee' | 'amount' | 'reference'> {
  readonly currency: string;
  readonly open: string;
}

/**
 * The list of a contract. Of several entries with one payee the first ones are paid first. Throws `OperatorError` if
 * the application has no contract.
 */
export async function planOf(context: LinesContext, id: ApplicationId): Promise<PlannedPayee[]> {
  const { database, vault } = context;
  const contract = await readContract(database, id);
  if (contract === null) throw await noContract(database, id);
  const { currency } = contract.terms.offer;
  const paid = balancesOf(await readLines(database, contract.id, openSecret(vault, contract)), currency);
  return (await payeesOfContract(database, vault, contract)).map(({ payee, amount, reference }) => {
    const [name, wanted] = [foldPayee(payee), toMinor(amount, currency)];
    const has = paid.get(name) ?? 0n;
    const used = has < wanted ? has : wanted;
    paid.set(name, has - used);
    return { payee, amount, reference, currency, open: moneyText(wanted - used, currency) };
  });
}
