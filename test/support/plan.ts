/** How PostgreSQL reads what a statement asks for. */
import type { Database } from '../../src/ground/postgres/database.ts';
import type { TestDatabase } from './database.ts';

/** The plan of the statement that `work` sends last. A small table would be read as a whole. */
export async function planOf(
  database: TestDatabase['database'],
  work: (database: Database) => Promise<unknown>,
): Promise<string> {
  const session = await database.connect();
  try {
    await session.query('BEGIN');
    // The first one makes the others hold on the machine of a cluster that plans; elsewhere it is but a name.
    await session.query(`SET LOCAL citus.propagate_set_commands = 'local';
      SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`);
    let plan = '';
    const query = async (text: string, values: unknown[]) => {
      const { rows } = await session.query(`EXPLAIN (COSTS OFF) ${text}`, values);
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return { rows: [{}] };
    };
    await work({ query } as unknown as Database);
    return plan;
  } finally {
    await session.query('ROLLBACK');
    session.release();
  }
}
