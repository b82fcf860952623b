/** A migration's checksum does not count comments, and counts all else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutComments } from '../../src/ground/schema/migration-files.ts';

const same = (first: string, second: string) => assert.equal(withoutComments(first), withoutComments(second));
const differ = (first: string, second: string) =>
  assert.notEqual(withoutComments(first), withoutComments(second));

test('comments and the form of gaps do not count', () => {
  same('-- One.\nSELECT 1;\n', "-- It's another.\n\n  SELECT\t1;");
  same('SELECT (\n  -- a\n  b)', 'SELECT (\n  b)');
  same('SELECT a -- why\n, b', 'SELECT a\n, b');
});

test('strings and quoted names count as they are', () => {
  differ("SELECT '-- a'", "SELECT '-- b'");
  differ("SELECT 'a  b'", "SELECT 'a b'");
  differ("SELECT 'it''s -- a'", "SELECT 'it''s -- b'");
  differ("SELECT E'\\' -- a'", "SELECT E'\\' -- b'");
  differ('SELECT 1 AS "-- a"', 'SELECT 1 AS "-- b"');
  same("SELECT 'a\\' -- one\n, 'b'", "SELECT 'a\\' -- two\n, 'b'");
});

test('a dollar quote holds code: its comments do not count, and its strings do', () => {
  same('DO $$ BEGIN -- one\nEND $$', "DO $$ BEGIN -- it's two\nEND $$");
  same('DO $a$ BEGIN DO $b$ BEGIN -- one\nEND $b$; END $a$', 'DO $a$ BEGIN DO $b$ BEGIN\nEND $b$; END $a$');
  differ("DO $$ BEGIN PERFORM '-- one'; END $$", "DO $$ BEGIN PERFORM '-- two'; END $$");
  differ('SELECT $1', 'SELECT $2');
  differ('DO $a$ BEGIN END $a$', 'DO $b$ BEGIN END $b$');
});

test('SQL with a comment of the other form counts as it is', () => {
  differ("/* it's */ SELECT '-- a'", "/* it's */ SELECT '-- b'");
});
