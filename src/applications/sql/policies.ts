/** The policies that were used, so that each decision can be explained and repeated (D30). */

import type { Database } from '../../postgres/database.ts';
import { takeId } from '../../postgres/ids.ts';
import { SetupError } from '../../postgres/setup-error.ts';
import type { Policy } from '../rules/policy.ts';

const FIND = 'SELECT id, content = $2::jsonb AS same FROM policies WHERE version = $1';
const ADD =
  'INSERT INTO policies (id, version, content) VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING';

/** The stored id of a policy. Throws `SetupError` if its version is stored with other content. */
export async function rememberPolicy(database: Database, policy: Policy): Promise<number> {
  const { version } = policy;
  const content = JSON.stringify(policy);
  const { rows } = await database.query<{ id: number; same: boolean }>(FIND, [version, content]);
  const [row] = rows;
  if (row === undefined) {
    await database.query(ADD, [await takeId(database, 'policies'), version, content]);
    return rememberPolicy(database, policy);
  }
  if (!row.same) {
    throw new SetupError(
      `policy version ${version} already decided with other content: give the changed policy a new version`,
    );
  }
  return row.id;
}
