/** What an operator of a test may decide on alone. */
import type { Authority } from '../../src/domain/operator/authority.ts';
import type { Session } from '../../src/ground/postgres/database.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { readAccount, setRights } from '../../src/subjects/operators/sql/operators.ts';

/** Gives an operator these amounts, in hundredths, in the place of those before. */
export async function setAuthority(
  session: Session,
  vault: Vault,
  id: number,
  authority: Authority,
): Promise<void> {
  await setRights(session, vault, (await readAccount(session, vault, id))!, { authority });
}
