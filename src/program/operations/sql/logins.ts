/** The logins of operators with accounts: histories and proposals name the account (D48). Reads `operators`. */
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../acting.ts';

const LOGINS = 'SELECT o.id, o.login FROM operators o WHERE o.id = ANY ($1::integer[])';

/** The present logins of operators, by id. An operator who does not exist is absent. */
async function readLogins(session: Session, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<{ id: number; login: string }>(LOGINS, [ids]);
  return new Map(rows.map(({ id, login }) => [id, login]));
}

/** The present login of an operator, or the id as text if there is none. */
export async function readLogin(session: Session, id: number): Promise<string> {
  return (await readLogins(session, [id])).get(id) ?? `${id}`;
}

/** The present login, or the id as text, of each of these actors that is an account. */
export async function loginsOf(
  session: Session,
  actors: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const accounts = [...new Set(actors)].flatMap((actor) => {
    const id = actor === null ? null : accountOf(actor);
    return actor === null || id === null ? [] : [{ actor, id }];
  });
  const logins = await readLogins(
    session,
    accounts.map(({ id }) => id),
  );
  return new Map(accounts.map(({ actor, id }) => [actor, logins.get(id) ?? `${id}`]));
}
