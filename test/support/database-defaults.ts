/** Settings that sessions of a test's database begin with. */
import type { TestContext } from 'node:test';
import type { TestDatabase } from './database.ts';

/** Changes them until the test is over. */
export async function withDefaults(
  t: TestContext,
  { database, url }: TestDatabase,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings)) {
    await database.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
    t.after(() => database.query(`ALTER DATABASE ${name} RESET ${setting}`));
  }
}
