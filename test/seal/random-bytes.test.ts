/** No nonce is used twice: two records sealed with the same nonce could be read without the key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes } from '../../src/seal/random-bytes.ts';

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
