/** The views that operators saved under a name (docs/operators.md, "Views"). Reads and writes `saved_views`. */
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import type { SavedQuery, SavedView } from '../rules/views.ts';

const READ = `
  SELECT v.id::float8 AS id, v.name, v.query FROM saved_views v WHERE v.operator_id = $1 ORDER BY v.name, v.id`;

/** Those of an operator, by name. */
export async function readSavedViews(database: Database, operatorId: number): Promise<SavedView[]> {
  return (await database.query<SavedView>(READ, [operatorId])).rows;
}

/** Two at the same moment count one after the other. */
const HOLD = "SELECT pg_advisory_xact_lock(hashtext('saved views of an operator'), $1::integer) FROM elapsed";
const COUNT = `
  SELECT count(*) FILTER (WHERE v.name <> $2)::integer AS others FROM saved_views v WHERE v.operator_id = $1`;
const SAVE = `
  INSERT INTO saved_views (operator_id, name, query) VALUES ($1, $2, $3)
  ON CONFLICT (operator_id, name) DO UPDATE SET query = excluded.query RETURNING id::float8 AS id, name, query`;

/** Saves a view, in the place of that with the same name; null: the operator has `most` others. */
export async function saveView(
  session: Transaction,
  operatorId: number,
  { name, query }: { readonly name: string; readonly query: SavedQuery },
  most: number,
): Promise<SavedView | null> {
  await session.query(HOLD, [operatorId]);
  const { rows: counts } = await session.query<{ others: number }>(COUNT, [operatorId, name]);
  if ((counts[0]?.others ?? 0) >= most) return null;
  const { rows } = await session.query<SavedView>(SAVE, [operatorId, name, JSON.stringify(query)]);
  return rows[0] ?? null;
}

const DELETE = 'DELETE FROM saved_views WHERE operator_id = $1 AND id = $2';

/** Deletes a view of the operator's own; false: there is none. */
export async function deleteSavedView(database: Database, operatorId: number, id: number): Promise<boolean> {
  return (await database.query(DELETE, [operatorId, id])).rowCount === 1;
}
