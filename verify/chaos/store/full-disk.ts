/** How a full disk ends a server: by the log that cannot be written. */
import type pg from 'pg';

const WITHIN_MS = 120_000;
/** Without a commit, because a commit would wait for a standby that the full disk has ended before. */
const FILL_LOG = `
  SELECT pg_logical_emit_message(false, 'chaos', repeat('a', 1000000)) FROM generate_series(1, 10)`;

/** Writes log until the server ends by it. Throws where it goes on, or does not answer. */
export async function writeLogInVain(client: pg.Client): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  let ended: string | null = null;
  while (ended === null && performance.now() < deadline) {
    ended = await client.query(FILL_LOG).then(
      () => null,
      ({ message }: Error) => message,
    );
  }
  if (ended === null || ended === 'Query read timeout')
    throw new Error('the full disk does not end PostgreSQL');
}
