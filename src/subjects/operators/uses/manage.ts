/**
 * Adds and changes the accounts of operators, for the command line and for admins (docs/operators.md). Writes
 * `operators`, ends sessions, and gives back what a changed operator works on.
 */
import type { Authority, Role } from '../../../domain/operator/authority.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { LOGIN_RULE, normalLogin, readLogin } from '../rules/login.ts';
import type { Account } from '../sql/account.ts';
import { resetFactors } from '../sql/factors.ts';
import {
  disableOperator as endAccount,
  type Found,
  insertOperator,
  leaveDesk,
  lockOperator,
  lockOperators,
  type Operator,
  readOperators,
  readProfile,
  setRights,
} from '../sql/operators.ts';
import { endSessions } from '../sql/sessions.ts';
import { newToken } from './tokens.ts';

export { type Operator, readProfile };

/** An operator, and the token of the link by which the operator sets the password and the second factor. */
interface Invited {
  readonly operator: Operator;
  readonly token: string;
}

type Context = Pick<OperatorContext, 'database' | 'vault'>;

/** All operators, the oldest first. */
export function listOperators({ database, vault }: Context): Promise<Operator[]> {
  return readOperators(database, vault);
}

/** Adds an operator. Throws `OperatorError` if the login breaks its rule or is taken. */
export function addOperator(
  { database, vault }: Context,
  { login: text, role, authority }: { login: string; role: Role; authority: Authority },
): Promise<Invited> {
  const login = readLogin(text);
  if (login === null) throw new OperatorError(LOGIN_RULE);
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    const id = await insertOperator(session, vault, { login, role, authority, linkDigest: digest });
    const { operator } = await known(session, vault, login);
    if (id !== null) return { operator, token };
    const why =
      operator.disabledAt && ', who is disabled: take another login, because the history keeps this one';
    throw new OperatorError(`there is an operator ${login} already${why ?? ''}`);
  });
}

/** Gives an operator another role, another authority, or both. Throws `OperatorError`. */
export function changeOperator(
  { database, vault }: Context,
  login: string,
  { role, authority }: { role?: Role | undefined; authority?: Authority | undefined },
): Promise<Operator> {
  return inTransaction(database, (session) =>
    keepingAnAdmin(session, vault, async () => {
      const account = await live(session, vault, login);
      await setRights(session, vault, account, {
        ...(role !== undefined && { role }),
        ...(authority !== undefined && { authority }),
      });
      if (role === 'viewer') await leaveDesk(session, account.id);
      return (await known(session, vault, login)).operator;
    }),
  );
}

/** Takes an operator's factors away, ends all sessions, and gives a new link. Throws `OperatorError`. */
export function resetOperator({ database, vault }: Context, login: string): Promise<Invited> {
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    // A sign-in under way commits before, so that its session ends too.
    const account = await live(session, vault, login);
    await resetFactors(session, vault, account, digest);
    await leaveDesk(session, account.id);
    return { operator: (await known(session, vault, login)).operator, token };
  });
}

/** Ends all sessions of an operator, who keeps the factors. Throws `OperatorError`. */
export function signOutOperator({ database, vault }: Context, login: string): Promise<Operator> {
  return inTransaction(database, async (session) => {
    const { id } = await live(session, vault, login);
    await endSessions(session, id);
    await leaveDesk(session, id);
    return (await known(session, vault, login)).operator;
  });
}

/**
 * Ends an operator's account for good; the id stays in the history. Nothing else can be done with a forged account.
 * Throws `OperatorError`.
 */
export function disableOperator({ database, vault }: Context, login: string): Promise<Operator> {
  return inTransaction(database, (session) =>
    keepingAnAdmin(session, vault, async () => {
      const found = await known(session, vault, login);
      refuseDisabled(found);
      await endAccount(session, vault, found.stored);
      await leaveDesk(session, found.stored.id);
      return (await known(session, vault, login)).operator;
    }),
  );
}

/** Refuses a change that removes the last admin, or the last admin who can sign in. Locks the accounts. */
async function keepingAnAdmin<T>(session: Transaction, vault: Vault, change: () => Promise<T>): Promise<T> {
  await lockOperators(session);
  const before = await countAdmins(session, vault);
  const result = await change();
  const after = await countAdmins(session, vault);
  if (before.admins > 0 && after.admins === 0)
    throw new OperatorError('this is the last admin: make another one first');
  if (before.enrolled > 0 && after.enrolled === 0) {
    throw new OperatorError(
      'this is the last admin who can sign in: another one has to set the factors first',
    );
  }
  return result;
}

/** How many admins there are, and how many of them can sign in. */
async function countAdmins(
  session: Transaction,
  vault: Vault,
): Promise<{ admins: number; enrolled: number }> {
  const admins = (await readOperators(session, vault)).filter(
    ({ role, disabledAt, isForged }) => role === 'admin' && disabledAt === null && !isForged,
  );
  return { admins: admins.length, enrolled: admins.filter(({ enrolledAt }) => enrolledAt !== null).length };
}

/** Locks the account until the transaction ends. */
async function known(session: Transaction, vault: Vault, login: string): Promise<Found> {
  const found = await lockOperator(session, vault, normalLogin(login));
  if (found === null)
    throw new OperatorError('there is no operator with this login: operator list shows all');
  return found;
}

/** The same, for an account that is neither disabled nor forged. Throws `OperatorError`. */
async function live(session: Transaction, vault: Vault, login: string): Promise<Account> {
  const found = await known(session, vault, login);
  refuseDisabled(found);
  if (found.account !== null) return found.account;
  throw new OperatorError(
    `the account ${found.operator.login} was changed in the database by somebody without the keys of this service, and may do nothing: disable it, and add another one (docs/operators.md)`,
  );
}

function refuseDisabled({ operator: { login, disabledAt } }: Found): void {
  if (disabledAt !== null) throw new OperatorError(`the operator ${login} is disabled`);
}
