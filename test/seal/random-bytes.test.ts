/**
 * No nonce is used twice: two records sealed with the same nonce could be read without the key. Bytes that are kept
 * do not change: a session, a salt and a secret of codes wait for the database while others take theirs.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes } from '../../src/seal/vault.ts';

test('no bytes are returned twice, over many fillings of the pool and with mixed lengths', () => {
  const seen = new Set<string>();
  for (let count = 0; count < 20_000; count += 1) {
    const length = count % 3 === 0 ? 16 : 12;
    const bytes = randomBytes(length);
    assert.equal(bytes.length, length);
    seen.add(bytes.toString('hex'));
  }
  assert.equal(seen.size, 20_000);
});

test('bytes that are kept stay as they were, however many are taken after them', () => {
  const kept = Array.from({ length: 1_000 }, () => randomBytes(20));
  const before = kept.map((bytes) => bytes.toString('hex'));
  for (let count = 0; count < 1_000; count += 1) randomBytes(20);
  assert.deepEqual(
    kept.map((bytes) => bytes.toString('hex')),
    before,
  );
});
