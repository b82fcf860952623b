/**
 * Stores the policies that were used, so that each decision can be explained and repeated (D30). Reads and writes
 * `policies`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Policy } from '../../../domain/scorecard/scorecard.ts';
import { errorCode } from '../../../ground/base/describe-error.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { SetupError } from '../../../ground/postgres/setup-error.ts';

const FIND = 'SELECT id, content = $2::jsonb AS same FROM policies WHERE version = $1';
/** Without ON CONFLICT, because Citus would need the right to update for it. */
const ADD = 'INSERT INTO policies (id, version, content) VALUES ($1, $2, $3)';
/** PostgreSQL's code: another process has made the row meanwhile. */
const IS_THERE = '23505';

/** The stored id of a policy. Throws `SetupError` if its version is stored with other content. */
export async function rememberPolicy(database: Database, policy: Policy): Promise<number> {
  const { version } = policy;
  const content = JSON.stringify(policy);
  const { rows } = await database.query<{ id: number; same: boolean }>(FIND, [version, content]);
  const [row] = rows;
  if (row === undefined) {
    await database
      .query(ADD, [await takeId(database, 'policies'), version, content])
      .catch((error: unknown) => {
        if (errorCode(error) !== IS_THERE) throw error;
      });
    return rememberPolicy(database, policy);
  }
  if (!row.same) {
    throw new SetupError(
      `policy version ${version} already decided with other content: give the changed policy a new version`,
    );
  }
  return row.id;
}

const OF_APPLICATION = `
  SELECT o.content FROM applications_of(ARRAY[$1::bigint]) a JOIN policies o ON o.id = a.policy_id`;

/** The policy that decided an application; null if there is no such application. */
export async function policyOf(session: Session, id: ApplicationId): Promise<Policy | null> {
  return (await session.query<{ content: Policy }>(OF_APPLICATION, [id])).rows[0]?.content ?? null;
}
