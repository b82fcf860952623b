/** The policies that decided, so that any decision can be explained and replayed (D30). */
import type { Policy } from '../domain/policy.ts';
import { type Database, SetupError } from './database.ts';

const REMEMBER = `
  WITH added AS (
    INSERT INTO policies (version, content) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING
    RETURNING id, true AS same
  )
  SELECT id, same FROM added
  UNION ALL SELECT id, content = $2::jsonb FROM policies WHERE version = $1`;

/** The stored id of a policy; throws `SetupError` where its version already stands for another content. */
export async function rememberPolicy(database: Database, policy: Policy): Promise<number> {
  const { rows } = await database.query<{ id: number; same: boolean }>(REMEMBER, [
    policy.version,
    JSON.stringify(policy),
  ]);
  const row = rows[0];
  if (row === undefined) return rememberPolicy(database, policy);
  if (!row.same) {
    throw new SetupError(
      `policy version ${policy.version} already decided with other content: give the changed policy a new version`,
    );
  }
  return row.id;
}
