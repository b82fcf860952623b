/** What an operator of a test may decide on alone. */
import type { Authority } from '../../src/operators/rules/authority.ts';
import { readAccount, setRights } from '../../src/operators/sql/operators.ts';
import type { Session } from '../../src/postgres/database.ts';
import type { Vault } from '../../src/seal/vault.ts';

/** Gives an operator these amounts, in hundredths, in the place of those before. */
export async function setAuthority(
  session: Session,
  vault: Vault,
  id: number,
  authority: Authority,
): Promise<void> {
  await setRights(session, vault, (await readAccount(session, vault, id))!, { authority });
}
