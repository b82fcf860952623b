/** A database that writes down the statements that it is sent: each one is a round trip, BEGIN and COMMIT too. */
import type { Database } from '../../src/ground/postgres/database.ts';
import { Dying } from './dying.ts';

/** The same database, and what takes the texts of the statements since the last time. */
export function hearingStatements(pool: Database): { database: Database; take: () => string[] } {
  const texts: string[] = [];
  const heard = new Dying(({ text }) => {
    texts.push(text);
    return null;
  });
  heard.arm();
  return { database: heard.over(pool), take: () => texts.splice(0) };
}
