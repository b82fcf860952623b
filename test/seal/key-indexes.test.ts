/** The search for what a data key has sealed reads no table from end to end: each that grows has an index for it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { testDatabase } from '../support/database.ts';

const { database } = await testDatabase();
const { dataKeys } = await loadWitnesses();
/** Accounts and endpoints are few. */
const FEW = ['operators', 'partner_endpoints'];

// Envelopes are searched partition by partition, from the newest one on.
for (const kind of dataKeys.filter(({ name }) => name !== 'envelopes')) {
  it(`of the kind ${kind.name}`, async () => {
    const tables: string[] = [];
    const rows = async (text: string, values: unknown[] = []) => {
      const session = await database.connect();
      try {
        await session.query('BEGIN');
        // An empty table would be read as a whole.
        await session.query('SET LOCAL enable_seqscan = off');
        const plan = (await session.query(`EXPLAIN (COSTS OFF) ${text}`, values)).rows;
        for (const { 'QUERY PLAN': line } of plan) {
          // On a cluster the name ends in the number of the shard.
          const [, table] = /Seq Scan on (\w+?)(?:_\d+)?(?: |$)/.exec(line) ?? [];
          if (table !== undefined) tables.push(table);
        }
      } finally {
        await session.query('ROLLBACK');
        session.release();
      }
      return [];
    };
    for await (const _ of kind.find({ keyByte: Buffer.of(1), rows } as never));
    assert.deepEqual(
      tables.filter((table) => !FEW.includes(table)),
      [],
    );
  });
}
