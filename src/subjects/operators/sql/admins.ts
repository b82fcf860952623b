/** The admins among some operators, as they are now (D48). Locks their rows of `operators`. */
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type AccountRow, accountColumns, operatorOf } from './account.ts';

const HELD = `SELECT ${accountColumns('o')} FROM operators o WHERE o.id = ANY ($1::integer[]) ORDER BY o.id FOR SHARE`;

/** The ids of those of the operators who are admins. Until the end of the transaction nobody changes their accounts. */
export async function holdAdmins(
  session: Transaction,
  vault: Vault,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const { rows } = await session.query<AccountRow>(HELD, [ids]);
  const accounts = rows.map((row) => operatorOf(vault, row)).filter((one) => one !== null);
  return new Set(
    accounts.filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null).map(({ id }) => id),
  );
}
