/** Adding and changing the accounts of operators. Who does so has a shell with the secrets, or is an admin. */

import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { inTransaction, type Transaction } from '../../postgres/database.ts';
import type { Authority } from '../rules/authority.ts';
import { LOGIN_RULE, normalLogin, readLogin } from '../rules/login.ts';
import type { Role } from '../rules/role.ts';
import { lockAccount, resetFactors } from '../sql/factors.ts';
import {
  countAdmins,
  disableOperator as endAccount,
  findOperator,
  insertOperator,
  leaveDesk,
  lockOperators,
  type Operator,
  readOperators,
  setAuthority,
  setRole,
} from '../sql/operators.ts';
import { endSessions } from '../sql/sessions.ts';
import { newToken } from './tokens.ts';

export type { Operator };

/** An operator, and the token of the link by which the operator sets the password and the second factor. */
interface Invited {
  readonly operator: Operator;
  readonly token: string;
}

type Context = Pick<OperatorContext, 'database'>;

/** All operators, the oldest first. */
export function listOperators({ database }: Context): Promise<Operator[]> {
  return readOperators(database);
}

/** Adds an operator. Throws `OperatorError` where the login breaks its rule or is taken. */
export function addOperator(
  { database }: Context,
  { login: text, role, authority }: { login: string; role: Role; authority: Authority },
): Promise<Invited> {
  const login = readLogin(text);
  if (login === null) throw new OperatorError(LOGIN_RULE);
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    const id = await insertOperator(session, { login, role, linkDigest: digest });
    if (id === null) {
      const { disabledAt } = await known(session, login);
      const why = disabledAt && ', who is disabled: take another login, because the history keeps this one';
      throw new OperatorError(`there is an operator ${login} already${why ?? ''}`);
    }
    await setAuthority(session, id, authority);
    return { operator: await known(session, login), token };
  });
}

/** Gives an operator another role, and other amounts where these are given. Throws `OperatorError`. */
export function changeOperator(
  { database }: Context,
  login: string,
  { role, authority }: { role?: Role | undefined; authority?: Authority | undefined },
): Promise<Operator> {
  return inTransaction(database, (session) =>
    keepingAnAdmin(session, async () => {
      const { id } = await live(session, login);
      if (role !== undefined) await setRole(session, id, role);
      if (role === 'viewer') await leaveDesk(session, id);
      if (authority !== undefined) await setAuthority(session, id, authority);
      return known(session, login);
    }),
  );
}

/** Takes an operator's factors away, ends the sessions, and gives a new link. Throws `OperatorError`. */
export function resetOperator({ database }: Context, login: string): Promise<Invited> {
  const { token, digest } = newToken();
  return inTransaction(database, async (session) => {
    const { id } = await live(session, login);
    // A sign-in under way commits before, so that its session ends too.
    await lockAccount(session, id);
    await resetFactors(session, id, digest);
    await leaveDesk(session, id);
    return { operator: await known(session, login), token };
  });
}

/** Ends all sessions of an operator, who keeps the factors. Throws `OperatorError`. */
export function signOutOperator({ database }: Context, login: string): Promise<Operator> {
  return inTransaction(database, async (session) => {
    const { id } = await live(session, login);
    await lockAccount(session, id);
    await endSessions(session, id);
    await leaveDesk(session, id);
    return known(session, login);
  });
}

/** Ends an operator's account for good; the id stays in the history. Throws `OperatorError`. */
export function disableOperator({ database }: Context, login: string): Promise<Operator> {
  return inTransaction(database, (session) =>
    keepingAnAdmin(session, async () => {
      const { id } = await live(session, login);
      await endAccount(session, id);
      await leaveDesk(session, id);
      return known(session, login);
    }),
  );
}

/** Refuses a change that would take the last admin away, or the last one who can sign in. Locks the accounts. */
async function keepingAnAdmin<T>(session: Transaction, change: () => Promise<T>): Promise<T> {
  await lockOperators(session);
  const before = await countAdmins(session);
  const result = await change();
  const after = await countAdmins(session);
  if (before.admins > 0 && after.admins === 0)
    throw new OperatorError('this is the last admin: make another one first');
  if (before.enrolled > 0 && after.enrolled === 0) {
    throw new OperatorError(
      'this is the last admin who can sign in: another one has to set the factors first',
    );
  }
  return result;
}

async function known(session: Transaction, login: string): Promise<Operator> {
  const operator = await findOperator(session, normalLogin(login));
  if (operator === null)
    throw new OperatorError('there is no operator with this login: operator list shows all');
  return operator;
}

async function live(session: Transaction, login: string): Promise<Operator> {
  const operator = await known(session, login);
  if (operator.disabledAt !== null) throw new OperatorError(`the operator ${operator.login} is disabled`);
  return operator;
}
