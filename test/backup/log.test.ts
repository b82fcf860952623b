/** Positions and files of the write-ahead log, as PostgreSQL names them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  readLsn,
  SEGMENT_BYTES,
  segmentName,
  segmentStart,
  writeLsn,
} from '../../src/subjects/backup/log/lsn.ts';
import { testDatabase } from '../support/database.ts';

const { database } = await testDatabase();

describe('a position in the log', () => {
  it('has the form, the file and the beginning of the file that PostgreSQL gives it', async () => {
    const sizes = "SELECT setting::bigint AS bytes FROM pg_settings WHERE name = 'wal_segment_size'";
    assert.equal(BigInt((await database.query(sizes)).rows[0].bytes), SEGMENT_BYTES);
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 2n ** 60n }), async (lsn) => {
        // At the border of two files the versions of PostgreSQL differ in which one they name.
        fc.pre(lsn % SEGMENT_BYTES !== 0n);
        const { rows } = await database.query(
          'SELECT $1::pg_lsn::text AS text, pg_walfile_name($1) AS name',
          [writeLsn(lsn)],
        );
        const [{ text, name }] = rows;
        const timeline = Number.parseInt(name.slice(0, 8), 16);
        assert.equal(writeLsn(lsn), text);
        assert.equal(readLsn(text), lsn);
        assert.equal(segmentName(timeline, lsn), name);
        assert.equal(segmentStart(lsn), lsn - (lsn % SEGMENT_BYTES));
      }),
      { numRuns: 50 },
    );
  });
});
