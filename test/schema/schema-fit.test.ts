/** Which stores a version of the program works on: its own, and that of the next version where it says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigration } from '../../src/ground/schema/migration-files.ts';
import { fitOf } from '../../src/ground/schema/migrations.ts';

const first = readMigration('0001_first.sql', 'SELECT 1;');
const second = readMigration('0002_second.sql', '-- Schema 2, additive.\nSELECT 2;');
const also = readMigration('0003_also.sql', '-- Schema 2, additive.\nSELECT 3;');
const breaking = readMigration('0003_breaking.sql', '-- Schema 2.\nSELECT 4;');
const third = readMigration('0004_third.sql', '-- Schema 3, additive.\nSELECT 5;');
const OLD = [first];
const NEW = [first, second, also];

const FITS = { fault: null, pending: [], isRolling: true };

const faultOf = (...args: Parameters<typeof fitOf>) => fitOf(...args).fault;

test('a version migrates an older store, and works on its own', () => {
  assert.deepEqual(fitOf(NEW, []), { fault: null, pending: NEW, isRolling: true });
  assert.deepEqual(fitOf(NEW, [first]), { fault: null, pending: [second, also], isRolling: true });
  assert.deepEqual(fitOf(NEW, NEW), FITS);
});

test('a version works beside the next one, also while that one migrates, where each step is additive', () => {
  assert.deepEqual(fitOf(OLD, [first, second]), FITS);
  assert.deepEqual(fitOf(OLD, NEW), FITS);
  assert.deepEqual(fitOf(NEW, [...NEW, third]), FITS);
});

test('a version refuses a later store with the name of the migration', () => {
  assert.match(
    faultOf(OLD, [first, second, breaking]) ?? '',
    /^the database has migration 0003_breaking\.sql, which/,
  );
  assert.match(
    faultOf(OLD, [...NEW, third]) ?? '',
    /^the database has migration 0004_third\.sql of schema 3, and this version works up to schema 2: update/,
  );
});

test('a version refuses a store of another line, and tells nobody to update: which of the two is newer is not known', () => {
  const changed = { ...first, checksum: 'another' };
  for (const [fault, what] of [
    [faultOf(OLD, [changed]), '0001_first.sql is not the same here'],
    [faultOf(OLD, [changed, second]), '0001_first.sql is not the same here'],
    [faultOf(NEW, [first, also]), '0003_also.sql is not there in this version'],
    // A later migration of its own schema comes from a version that was never released.
    [faultOf([first, second], NEW), '0003_also.sql is not there in this version'],
  ] as const) {
    assert.ok(
      fault?.startsWith(`another version of Ventanilla made the database: its migration ${what}: start`),
    );
    assert.doesNotMatch(fault ?? '', /update|restore the file/);
  }
});

test('an upgrade interrupts nothing only where all that is pending is additive and of the next schema', () => {
  assert.equal(fitOf([...NEW, breaking], [first]).isRolling, false);
  assert.equal(fitOf([...NEW, third], [first]).isRolling, false);
  assert.equal(fitOf([...NEW, third], [first, second]).isRolling, false);
  assert.equal(fitOf([...NEW, third], NEW).isRolling, true);
});
