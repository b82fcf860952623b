/** The accounts of those who decide, as they are now (D48). */
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type AccountRow, accountColumns, accountOf } from '../../operators/sql/account.ts';
import type { Decider } from '../rules/proposal.ts';

type Deciders = ReadonlyMap<number, NonNullable<Decider>>;

const ACCOUNTS = `SELECT ${accountColumns('o')} FROM operators o WHERE o.id = ANY ($1::integer[])`;
/** A change of an account locks it first: it comes before, or waits until what the transaction decides is committed. */
const HELD = `${ACCOUNTS} ORDER BY o.id FOR SHARE`;

/** The operators by id; one who is not there, or whose account this service has not written as it is, is absent. */
export function readDeciders(session: Session, vault: Vault, ids: readonly number[]): Promise<Deciders> {
  return decidersBy(session, vault, ACCOUNTS, ids);
}

/** The same, and nobody changes their role, account or authority until the end of the transaction. */
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
  const accounts = rows.map((row) => accountOf(vault, row)).filter((account) => account !== null);
  return new Map(
    accounts.map(({ id, role, authority, disabledAt }) => [
      id,
      { role, isDisabled: disabledAt !== null, authority },
    ]),
  );
}
