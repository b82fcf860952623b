/**
 * The versions of flows: adds, reads and forgets rows of `flows`. A conversation stays on the version that it began
 * with (docs/conversation.md, "The flow of a brand").
 */
import { hash } from 'node:crypto';
import type { Flow } from '../../../domain/conversation/flow.ts';
import {
  type Database,
  inTransaction,
  onlyRow,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

/** The look-up is a statement of its own, so that it finds a row that another session has just added. */
const ADD = 'INSERT INTO flows (id, hash, content) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING';
const FIND = 'SELECT id FROM flows WHERE hash = $1 FOR KEY SHARE';

/**
 * The id of this version of a flow; a new version is stored. The version cannot be forgotten before the transaction has
 * ended.
 */
export async function flowIdOf(session: Transaction, flow: Flow): Promise<number> {
  const content = JSON.stringify(flow);
  const sha256 = hashOf(content);
  const found = await session.query<{ id: number }>(FIND, [sha256]);
  if (found.rows[0] !== undefined) return found.rows[0].id;
  await session.query(ADD, [await takeId(session, 'flows'), sha256, content]);
  return onlyRow((await session.query<{ id: number }>(FIND, [sha256])).rows).id;
}

function hashOf(content: string): Buffer {
  return hash('sha256', content, 'buffer');
}

const IS_VERSION = 'SELECT hash = $2 AS "isVersion" FROM flows WHERE id = $1';

/** Whether a flow is this version. */
export async function isFlowVersion(session: Session, id: number, flow: Flow): Promise<boolean> {
  const { rows } = await session.query<{ isVersion: boolean }>(IS_VERSION, [
    id,
    hashOf(JSON.stringify(flow)),
  ]);
  return rows[0]?.isVersion ?? false;
}

const READ = 'SELECT id, content FROM flows WHERE id = ANY ($1::integer[])';

/** These versions, by id. */
export async function readFlows(session: Session, ids: readonly number[]): Promise<Map<number, Flow>> {
  const { rows } = await session.query<{ id: number; content: Flow }>(READ, [ids]);
  return new Map(rows.map(({ id, content }) => [id, content]));
}

const UNUSED = `
  SELECT f.id FROM flows f WHERE NOT EXISTS (SELECT FROM conversations c WHERE c.flow_id = f.id)
    AND f.first_used_at < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED`;
/** A statement of its own, so that it sees conversations that began before the versions were locked. */
const FORGET = `
  DELETE FROM flows f WHERE f.id = ANY ($1::integer[])
    AND NOT EXISTS (SELECT FROM conversations c WHERE c.flow_id = f.id)`;

/**
 * Deletes versions that no conversation has any more. A version that a beginning conversation is about to take stays.
 */
export async function forgetFlows(database: Database): Promise<void> {
  await inTransaction(database, async (session) => {
    const { rows } = await session.query<{ id: number }>(UNUSED);
    if (rows.length > 0) await session.query(FORGET, [rows.map(({ id }) => id)]);
  });
}
