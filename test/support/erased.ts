/** Looks for a person in everything that a store has. */
import assert from 'node:assert/strict';
import { INVARIANTS } from '../../src/ground/invariants/check-store.ts';
import { openEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import type { TestDatabase } from './database.ts';
import { assertInStep } from './messages.ts';

type Store = Pick<TestDatabase, 'database' | 'vault'>;

const TABLES = `
  SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1`;

/** Every row of every table as text, and the content of every envelope, by table. */
export async function wholeStore({ database, vault }: Store): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const { rows: tables } = await database.query<{ name: string }>(TABLES);
  assert.ok(tables.length > 30, `found only ${tables.length} tables`);
  for (const { name } of tables) {
    const { rows } = await database.query<{ row: string }>(
      `SELECT t::text AS row FROM "${name}" t ORDER BY 1`,
    );
    found.set(name, rows.map(({ row }) => row).join('\n'));
  }
  const { rows } = await database.query(
    'SELECT seal_id, envelope FROM batches WHERE envelope IS NOT NULL ORDER BY id',
  );
  found.set(
    'envelopes',
    rows.map(({ seal_id, envelope }) => JSON.stringify(openEnvelope(vault, seal_id, envelope))).join('\n'),
  );
  return found;
}

/** The tables that have one of these texts. */
export async function tablesWith(store: Store, texts: readonly string[]): Promise<string[]> {
  const tables = await wholeStore(store);
  return [...tables].filter(([, rows]) => texts.some((text) => rows.includes(text))).map(([name]) => name);
}

/** Checks what holds in every store; on a cluster, whose machines no such statement joins, that of messages alone. */
export async function assertInvariants({
  database,
  isSpread,
}: Pick<TestDatabase, 'database' | 'isSpread'>): Promise<void> {
  for (const { name, sql } of isSpread ? [] : INVARIANTS) {
    assert.equal(Number((await database.query(sql)).rows[0].broken), 0, name);
  }
  await assertInStep(database);
}
