/** The present logins of those whom a history names by their account (D48). Reads `operators`. */
import type { Session } from '../../../ground/postgres/database.ts';
import { accountOf } from '../../../program/operations/acting.ts';
import { readLogins } from '../sql/proposals.ts';

/** The login of each of these actors that is an account. */
export async function loginsOf(
  session: Session,
  actors: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const accounts = [...new Set(actors)].flatMap((actor) => {
    const id = accountOf(actor);
    return id === null ? [] : [{ actor, id }];
  });
  if (accounts.length === 0) return new Map();
  const logins = await readLogins(
    session,
    accounts.map(({ id }) => id),
  );
  return new Map(accounts.map(({ actor, id }) => [actor, logins.get(id) ?? `${id}`]));
}
