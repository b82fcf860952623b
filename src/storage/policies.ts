/** The policies that decided, so that any decision can be explained and replayed (D30). */
import type { Policy } from '../domain/scoring/policy.ts';
import { type Database, SetupError } from './database.ts';

const FIND = 'SELECT id, content = $2::jsonb AS same FROM policies WHERE version = $1';
/** From that table, and with the sequence's name as text: the machine that has the table gives the number. */
const TAKE_ID = "SELECT nextval('policies_id_seq'::text)::smallint AS id FROM elapsed";
const ADD =
  'INSERT INTO policies (id, version, content) VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING';

/** The stored id of a policy; throws `SetupError` where its version already stands for another content. */
export async function rememberPolicy(database: Database, policy: Policy): Promise<number> {
  const { version } = policy;
  const content = JSON.stringify(policy);
  const { rows } = await database.query<{ id: number; same: boolean }>(FIND, [version, content]);
  const [row] = rows;
  if (row === undefined) {
    const taken = await database.query<{ id: number }>(TAKE_ID);
    await database.query(ADD, [taken.rows[0]?.id, version, content]);
    return rememberPolicy(database, policy);
  }
  if (!row.same) {
    throw new SetupError(
      `policy version ${version} already decided with other content: give the changed policy a new version`,
    );
  }
  return row.id;
}
