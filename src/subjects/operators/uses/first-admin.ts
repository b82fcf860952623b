/** Adds the first admin of the embedded store, so that the console can be tried at once (docs/operators.md). */
import { operatorWithRole } from '../../../domain/operator/operator-name.ts';
import { againAfterConflict, inTransaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import { lockAccount, resetFactors } from '../sql/factors.ts';
import { insertOperator, lockOperators, readOperators } from '../sql/operators.ts';
import { newToken } from './tokens.ts';

const LOGIN = 'admin';

/**
 * While no operator has set the factors, adds the admin `admin`, or gives it a new link, which ends the link before.
 * Returns the link's token; null if an operator has set the factors, or if somebody has added another admin. Only the
 * addition is recorded, because a start of the program is no act of an operator.
 */
export function inviteFirstAdmin({ database, vault, actor }: OperatorContext): Promise<string | null> {
  const { token, digest } = newToken();
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      await lockOperators(session);
      const operators = await readOperators(session, vault);
      const isTaken = operators.some(
        ({ login, role, enrolledAt }) => enrolledAt !== null || (role === 'admin' && login !== LOGIN),
      );
      if (isTaken) return null;
      const own = operators.find(({ login }) => login === LOGIN);
      if (own !== undefined) {
        if (own.role !== 'admin') return null;
        const account = await lockAccount(session, vault, own.id);
        if (account === null) return null;
        await resetFactors(session, vault, account, digest);
        return token;
      }
      const id = await insertOperator(session, vault, { login: LOGIN, role: 'admin', linkDigest: digest });
      // Another process that starts at the same time has just added the admin, and shows its own link.
      if (id === null) return null;
      const act = {
        act: 'operator add',
        target: operatorWithRole({ id, role: 'admin', authority: new Map() }),
      };
      await addOperatorEvents(session, chainKeysOf(vault), actor, [act]);
      return token;
    }),
  );
}
