/** Checks a whole store: its files, by PostgreSQL's own checks, and its invariants. */
import type pg from 'pg';
import { INVARIANTS } from './invariants.ts';

/** What one check found. */
export interface Finding {
  readonly name: string;
  readonly rule: string;
  /** 0: all is well. */
  readonly broken: number;
}

/** Reading a large store takes long. */
const CHECK_TIMEOUT_MS = 6 * 60 * 60_000;

const HEAPS = `
  SELECT count(*) AS broken FROM pg_class c, LATERAL verify_heapam(c.oid) WHERE c.relkind IN ('r', 't', 'm')
    AND c.relpersistence = 'p'`;
/** bt_index_check fails at the first damage. */
const INDEXES = `
  SELECT bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_am a ON a.oid = c.relam
  WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relpersistence = 'p' AND i.indisvalid`;

/** The class of PostgreSQL's errors that tell of damaged data. */
const DAMAGE = /^XX/;

/**
 * Runs all checks in a session of the superuser of a store that nobody else needs: it adds PostgreSQL's extension
 * `amcheck` to the database.
 */
export async function checkStore(client: pg.Client): Promise<Finding[]> {
  await client.query('CREATE EXTENSION IF NOT EXISTS amcheck');
  const findings: Finding[] = [
    { name: 'tables', rule: 'every table can be read whole', broken: await count(client, HEAPS) },
    { name: 'indexes', rule: 'every index has the rows of its table', broken: await count(client, INDEXES) },
  ];
  for (const { name, rule, sql } of INVARIANTS) {
    findings.push({ name, rule, broken: await count(client, sql) });
  }
  return findings;
}

async function count(client: pg.Client, text: string): Promise<number> {
  try {
    // The driver reads the limit from the query; its types do not know that.
    const query = { text, query_timeout: CHECK_TIMEOUT_MS };
    const { rows } = await client.query<{ broken?: string }>(query);
    return Number(rows[0]?.broken ?? 0);
  } catch (error) {
    if (DAMAGE.test((error as { code?: string }).code ?? '')) return 1;
    throw error;
  }
}
