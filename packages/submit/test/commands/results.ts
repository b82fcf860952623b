/** The results file of `ventanilla submit`, as tests read it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Database } from '../../../../src/ground/postgres/database.ts';
import type { Applicant } from '../files.ts';

/** The path of the results of a file. */
export const resultsBeside = (path: string) => join(dirname(path), 'results.csv');

/** The lines of a results file. */
export function linesOf(path: string, delimiter = ','): Record<string, string>[] {
  return parse(readFileSync(path, 'utf8'), { bom: true, columns: true, delimiter });
}

/** The applications that the service has for a key, by id. */
export async function storedIds(database: Database, keyId: number): Promise<Map<string, unknown>> {
  const { rows } = await database.query<{ id: string; score: number }>(
    'SELECT id, score FROM applications WHERE api_key_id = $1',
    [keyId],
  );
  return new Map(rows.map(({ id, score }) => [String(id), String(score)]));
}

/** Every row is registered under an application of its own that the service has. */
export async function assertAllRegistered(
  database: Database,
  path: string,
  list: readonly Applicant[],
  keyId: number,
): Promise<void> {
  const lines = linesOf(path);
  assert.deepEqual(
    lines.map(({ row, id_number, outcome }) => [row, id_number, outcome]),
    list.map(({ id_number }, index) => [String(index + 2), id_number, 'registered']),
  );
  assert.deepEqual(new Map(lines.map(({ id, score }) => [id, score])), await storedIds(database, keyId));
  assert.equal(new Set(lines.map(({ id }) => id)).size, list.length);
}
