/** Sealing, blind indexes and the installation's secrets (contract "Authentication" 2; design, "Personal data"). */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Secrets } from '../../src/domain/secrets.ts';
import { SetupError } from '../../src/storage/database.ts';
import { checkSecrets, secretsOfDataDir } from '../../src/storage/secrets.ts';
import { keyedHash, Vault } from '../../src/storage/vault.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';

const { database } = await testDatabase();
const key = (name: string) => createHash('sha256').update(name).digest();
const vault = new Vault(TEST_SECRETS);
const withDataKeys = (...names: [id: number, name: string][]): Secrets => ({
  ...TEST_SECRETS,
  dataKeys: new Map(names.map(([id, name]) => [id, key(name)])),
});

/** Any code points, and, unlike those, lone surrogates too. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 400 })
    .map((units) => String.fromCharCode(...units)),
  // Around the length from which a text has no place in the prepared buffer.
  fc
    .tuple(fc.integer({ min: 330, max: 1_100 }), fc.constantFrom('a', 'ñ', '漢', '😀'))
    .map(([length, character]) => character.repeat(length)),
);

describe('keyedHash', () => {
  const plain = (secret: Uint8Array, message: string) =>
    createHash('sha256').update(secret).update(message, 'utf8').digest('hex').slice(0, 32);

  it('is the first half of SHA-256 over key and text, for every text and key, one after the other', () => {
    const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(keys, fc.array(text, { minLength: 1, maxLength: 5 }), (secret, texts) => {
        // One function for all of them: what an earlier text left in its buffer must not show.
        const keyed = keyedHash(secret);
        for (const message of texts) assert.equal(keyed(message), plain(secret, message));
      }),
      { numRuns: 300 },
    );
  });

  it('at the edge of its buffer, and far beyond', () => {
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
  it('the indexes and digests are keyed, and one kind is not another', () => {
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

  it('what was sealed opens, and shows nothing', () => {
    const sealable = text.map((value) => value.toWellFormed());
    fc.assert(
      fc.property(sealable, fc.uuid(), (value, identity) => {
        const sealed = vault.seal(value, identity);
        assert.equal(vault.open(sealed, identity), value);
        if (value.length > 8) assert.equal(sealed.includes(Buffer.from(value)), false);
      }),
      { numRuns: 200 },
    );
  });

  it('two seals of one text differ, over more of them than nonces are made at once', () => {
    const seals = Array.from({ length: 1_000 }, () => vault.seal('Ana Gómez', 'a:0'));
    assert.equal(new Set(seals.map((sealed) => sealed.toString('hex'))).size, seals.length);
    assert.equal(new Set(seals.map((sealed) => sealed.subarray(1, 13).toString('hex'))).size, seals.length);
    for (const sealed of seals) assert.equal(vault.open(sealed, 'a:0'), 'Ana Gómez');
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
    assert.equal(vault.open(sealed, 'batch:1'), 'Ana Gómez');
  });

  it('a new first key seals from then on, and the old one still opens by its id', () => {
    const before = new Vault(withDataKeys([1, 'one']));
    const rotated = new Vault(withDataKeys([7, 'seven'], [1, 'one']));
    const old = before.seal('old', 'a:0');
    const fresh = rotated.seal('fresh', 'a:0');
    assert.deepEqual([old[0], fresh[0]], [1, 7]);
    assert.equal(rotated.open(old, 'a:0'), 'old');
    assert.equal(rotated.open(fresh, 'a:0'), 'fresh');
    assert.throws(() => before.open(fresh, 'a:0'), /no data key with id 7/);
    assert.throws(() => new Vault(withDataKeys([1, 'another'])).open(old, 'a:0'));
    assert.throws(() => new Vault({ ...TEST_SECRETS, dataKeys: new Map() }), /no data key/);
  });
});

describe('secretsOfDataDir', () => {
  const root = mkdtempSync(join(tmpdir(), 'ventanilla-secrets-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  const newDir = () => mkdtempSync(join(root, 'data-'));
  const plain = ({ dataKeys, indexKey, apiKeyPepper }: Secrets) => ({
    dataKeys: [...dataKeys].map(([id, bytes]) => [id, bytes.toString('hex')]),
    indexKey: indexKey.toString('hex'),
    apiKeyPepper: apiKeyPepper.toString('hex'),
  });

  it('makes 32 random bytes each, for their owner alone, and the same the next time', async () => {
    const dir = newDir();
    const made = plain(await secretsOfDataDir(dir));
    assert.deepEqual(readdirSync(dir), ['secrets.json']);
    assert.equal(statSync(join(dir, 'secrets.json')).mode & 0o777, 0o600);
    assert.deepEqual(plain(await secretsOfDataDir(dir)), made);
    const keys = [...made.dataKeys.map(([, hex]) => hex), made.indexKey, made.apiKeyPepper];
    assert.deepEqual(
      made.dataKeys.map(([id]) => id),
      [1],
    );
    assert.equal(new Set(keys).size, 3);
    for (const hex of keys) assert.match(String(hex), /^[0-9a-f]{64}$/);
    assert.notDeepEqual(plain(await secretsOfDataDir(newDir())), made);
  });

  it('many at once end with the same, and leave nothing else behind', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const dir = newDir();
      const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => secretsOfDataDir(dir)));
      for (const other of others) assert.deepEqual(plain(other), plain(first as Secrets));
      assert.deepEqual(readdirSync(dir), ['secrets.json']);
    }
  });

  it('a damaged file is refused and left as it is', async () => {
    const dir = newDir();
    await secretsOfDataDir(dir);
    const path = join(dir, 'secrets.json');
    const whole = readFileSync(path, 'utf8');
    const file = JSON.parse(whole);
    const damaged = [
      '',
      'null',
      '[]',
      '{}',
      whole.slice(0, -10),
      ...['data_keys', 'index_key', 'api_key_pepper'].map((name) =>
        JSON.stringify({ ...file, [name]: undefined }),
      ),
      JSON.stringify({ ...file, index_key: file.index_key.slice(4) }),
      JSON.stringify({ ...file, api_key_pepper: 12 }),
      JSON.stringify({ ...file, data_keys: {} }),
      JSON.stringify({ ...file, data_keys: { '1': 'AAAA' } }),
      JSON.stringify({ ...file, data_keys: { one: file.index_key } }),
      JSON.stringify({ ...file, data_keys: { '256': file.index_key } }),
      JSON.stringify({ ...file, data_keys: [file.index_key] }),
    ];
    for (const content of damaged) {
      writeFileSync(path, content);
      await assert.rejects(
        secretsOfDataDir(dir),
        (error) => error instanceof SetupError && /secrets\.json is damaged/.test(error.message),
        content,
      );
      assert.equal(readFileSync(path, 'utf8'), content);
    }
    writeFileSync(path, whole);
    assert.deepEqual(
      plain(await secretsOfDataDir(dir)).indexKey,
      Buffer.from(file.index_key, 'base64').toString('hex'),
    );
  });
});

describe('checkSecrets', () => {
  const names = async () => {
    const { rows } = await database.query('SELECT name FROM secret_checks ORDER BY name');
    return rows.map(({ name }) => name as string);
  };
  const refused = (secrets: Secrets, message: RegExp) =>
    assert.rejects(
      checkSecrets(database, secrets),
      (error) => error instanceof SetupError && message.test(error.message),
    );

  it('remembers on first sight, takes the same again and refuses others by name', async () => {
    await checkSecrets(database, TEST_SECRETS);
    await checkSecrets(database, TEST_SECRETS);
    const known = ['API_KEY_PEPPER', 'DATA_KEYS 1', 'INDEX_KEY'];
    assert.deepEqual(await names(), known);
    const { rows } = await database.query('SELECT * FROM secret_checks');
    for (const bytes of [TEST_SECRETS.indexKey, TEST_SECRETS.apiKeyPepper]) {
      assert.equal(
        JSON.stringify(rows).replaceAll('-', '').includes(bytes.toString('hex').slice(0, 32)),
        false,
      );
    }
    await refused({ ...TEST_SECRETS, indexKey: key('other') }, /^INDEX_KEY is not the one/);
    await refused({ ...TEST_SECRETS, apiKeyPepper: key('other') }, /^API_KEY_PEPPER is not the one/);
    await refused(withDataKeys([1, 'other']), /^DATA_KEYS 1 is not the one/);
    assert.deepEqual(await names(), known);
  });

  it('a refused start leaves nothing behind that would refuse the right one', async () => {
    await checkSecrets(database, TEST_SECRETS);
    await refused(
      { ...withDataKeys([2, 'two']), indexKey: key('other') },
      /^DATA_KEYS 1 is missing|^INDEX_KEY/,
    );
    await refused(withDataKeys([2, 'two']), /^DATA_KEYS 1 is missing/);
    await checkSecrets(database, TEST_SECRETS);
  });

  it('a second data key is taken, and from then on both are needed, in any order', async () => {
    const both = withDataKeys([2, 'two'], [1, 'data']);
    await checkSecrets(database, both);
    await checkSecrets(database, withDataKeys([1, 'data'], [2, 'two']));
    await refused(TEST_SECRETS, /^DATA_KEYS 2 is missing/);
    await refused(withDataKeys([2, 'two']), /^DATA_KEYS 1 is missing/);
    await refused(withDataKeys([2, '2'], [1, 'data']), /^DATA_KEYS 2 is not the one/);
  });

  it('of two first starts at once with different secrets one is refused', async () => {
    await database.query('DELETE FROM secret_checks');
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) =>
        checkSecrets(database, { ...TEST_SECRETS, indexKey: key(name), apiKeyPepper: key(`${name} pepper`) }),
      ),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });
});
