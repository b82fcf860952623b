/**
 * The present accounts of the operators who decide (D48). Reads `operators`, and locks the rows if the transaction
 * decides.
 */
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type AccountRow, accountColumns, operatorOf } from '../../operators/sql/account.ts';
import type { Decider } from '../rules/proposal.ts';

type Deciders = ReadonlyMap<number, NonNullable<Decider>>;

const ACCOUNTS = `SELECT ${accountColumns('o')} FROM operators o WHERE o.id = ANY ($1::integer[])`;
/**
 * A change of an account locks the row first. So it either comes before the decision, or waits until the decision is
 * committed.
 */
const HELD = `${ACCOUNTS} ORDER BY o.id FOR SHARE`;

/** The operators by id. One who does not exist, or whose account is forged, is absent. */
export function readDeciders(session: Session, vault: Vault, ids: readonly number[]): Promise<Deciders> {
  return decidersBy(session, vault, ACCOUNTS, ids);
}

/** The same. Until the end of the transaction nobody can change their role, account or authority. */
export function holdDeciders(session: Transaction, vault: Vault, ids: readonly number[]): Promise<Deciders> {
  return decidersBy(session, vault, HELD, ids);
}

async function decidersBy(
  session: Session,
  vault: Vault,
  statement: string,
  ids: readonly number[],
): Promise<Deciders> {
  const { rows } = await session.query<AccountRow>(statement, [ids]);
  const accounts = rows.map((row) => operatorOf(vault, row)).filter((account) => account !== null);
  return new Map(
    accounts.map(({ id, role, authority, disabledAt }) => [
      id,
      { role, isDisabled: disabledAt !== null, authority },
    ]),
  );
}
