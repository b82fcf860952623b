/** Sealing and blind indexes (contract "Authentication" 2; ARCHITECTURE, "Personal data"). */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UnknownDataKeyError } from '../../src/ground/base/registration-failure.ts';
import type { Secrets } from '../../src/seal/vault.ts';
import { keyedHash, Vault } from '../../src/seal/vault.ts';
import { TEST_SECRETS } from '../support/database.ts';

const key = (name: string) => createHash('sha256').update(name).digest();
const vault = new Vault(TEST_SECRETS);
const withDataKeys = (...names: [id: number, name: string][]): Secrets => ({
  ...TEST_SECRETS,
  dataKeys: new Map(names.map(([id, name]) => [id, key(name)])),
});

/** Any code points, and lone surrogates too. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 400 })
    .map((units) => String.fromCharCode(...units)),
  // Around the length from which a text does not fit into the prepared buffer.
  fc
    .tuple(fc.integer({ min: 330, max: 1_100 }), fc.constantFrom('a', 'ñ', '漢', '😀'))
    .map(([length, character]) => character.repeat(length)),
);

describe('keyedHash', () => {
  const plain = (secret: Uint8Array, message: string) =>
    createHash('sha256').update(secret).update(message, 'utf8').digest('hex').slice(0, 32);

  it('is the first half of SHA-256 over key and text, for any texts and keys in a row', () => {
    const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(keys, fc.array(text, { minLength: 1, maxLength: 5 }), (secret, texts) => {
        // One function for all texts: what an earlier text left in its buffer must not show.
        const keyed = keyedHash(secret);
        for (const message of texts) assert.equal(keyed(message), plain(secret, message));
      }),
      { numRuns: 300 },
    );
  });

  it('is right at the edge of its buffer, and far beyond', () => {
    const keyed = keyedHash(key('edge'));
    for (const length of [0, 1, 340, 341, 342, 343, 1_023, 1_024, 1_025, 200_000]) {
      for (const character of ['x', 'é', '漢']) {
        const message = character.repeat(length);
        assert.equal(keyed(message), plain(key('edge'), message));
      }
    }
  });
});

describe('Vault', () => {
  it('indexes and digests are keyed, and differ by kind', () => {
    assert.equal(
      vault.blindIndex('phone', '+573001234567'),
      keyedHash(TEST_SECRETS.indexKey)('phone:+573001234567'),
    );
    const kinds = ['phone', 'id_number', 'idempotency_key'] as const;
    assert.equal(new Set(kinds.map((kind) => vault.blindIndex(kind, '3001234567'))).size, 3);
    assert.deepEqual(
      vault.apiKeyDigest('vtn_x'),
      createHmac('sha256', TEST_SECRETS.apiKeyPepper).update('vtn_x').digest(),
    );
    const body = Buffer.from([0xff, 0x00, 0x80]);
    assert.equal(vault.bodyDigest(body).length, 32);
    assert.notEqual(vault.bodyDigest(body), vault.bodyDigest(Buffer.from([0xff, 0x00, 0x81])));
    const other = new Vault({ ...TEST_SECRETS, indexKey: key('other') });
    assert.notEqual(other.blindIndex('phone', '+573001234567'), vault.blindIndex('phone', '+573001234567'));
    assert.notEqual(other.bodyDigest(body), vault.bodyDigest(body));
  });

  it('a sealed text opens, and its bytes show nothing', () => {
    const sealable = text.map((value) => value.toWellFormed());
    fc.assert(
      fc.property(sealable, fc.uuid(), (value, identity) => {
        const sealed = vault.seal(value, identity);
        assert.equal(vault.open(sealed, identity).toString(), value);
        if (value.length > 8) assert.equal(sealed.includes(Buffer.from(value)), false);
      }),
      { numRuns: 200 },
    );
  });

  it('two seals of one text differ, for more seals than nonces are made at once', () => {
    const seals = Array.from({ length: 1_000 }, () => vault.seal('Ana Gómez', 'a:0'));
    assert.equal(new Set(seals.map((sealed) => sealed.toString('hex'))).size, seals.length);
    assert.equal(new Set(seals.map((sealed) => sealed.subarray(1, 13).toString('hex'))).size, seals.length);
    for (const sealed of seals) assert.equal(vault.open(sealed, 'a:0').toString(), 'Ana Gómez');
  });

  it('another identity, any flipped bit and any missing or added byte are refused', () => {
    const sealed = vault.seal('Ana Gómez', 'batch:1');
    for (const identity of ['batch:2', 'batch:11', '', 'Batch:1']) {
      assert.throws(() => vault.open(sealed, identity), identity);
    }
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7));
      assert.throws(() => vault.open(altered, 'batch:1'), `bit ${bit}`);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => vault.open(sealed.subarray(0, length), 'batch:1'), `${length} bytes`);
    }
    assert.throws(() => vault.open(Buffer.concat([sealed, Buffer.from([0])]), 'batch:1'));
    assert.equal(vault.open(sealed, 'batch:1').toString(), 'Ana Gómez');
  });

  it('a new first key seals from then on, and the old one still opens by its id', () => {
    const before = new Vault(withDataKeys([1, 'one']));
    const rotated = new Vault(withDataKeys([7, 'seven'], [1, 'one']));
    const old = before.seal('old', 'a:0');
    const fresh = rotated.seal('fresh', 'a:0');
    assert.deepEqual([old[0], fresh[0]], [1, 7]);
    assert.equal(rotated.open(old, 'a:0').toString(), 'old');
    assert.equal(rotated.open(fresh, 'a:0').toString(), 'fresh');
    assert.throws(() => before.open(fresh, 'a:0'), UnknownDataKeyError);
    assert.throws(() => new Vault(withDataKeys([1, 'another'])).open(old, 'a:0'));
    assert.throws(() => new Vault({ ...TEST_SECRETS, dataKeys: new Map() }), /no data key/);
  });
});
