/** Asks a server one question, in a session of its own. */
import pg from 'pg';

/** The rows of the answer. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function oneQuery(connection: pg.ClientConfig, text: string): Promise<any[]> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
