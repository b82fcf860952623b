/** Sealed files lie in a folder or in an S3-compatible store: the same rules for both. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import {
  DocumentStoreError,
  keyPart,
  newFileKey,
  openDocumentStore,
} from '../../src/subjects/documents/store/document-store.ts';
import { newFileSecret, openWith, sealWith } from '../../src/subjects/documents/store/sealed-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-documents-'));
after(() => rmSync(folder, { recursive: true }));

// The package has no types.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver');
const peer = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: join(folder, 's3'),
  configureBuckets: [{ name: 'documents', configs: [] }],
});
const { port } = await peer.run();
after(() => peer.close());
const account = {
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
  region: 'us-east-1',
  endpoint: `http://127.0.0.1:${port}`,
};

const stores = [
  ['a folder', await openDocumentStore(join(folder, 'documents'), null, machineClock)],
  ['an S3-compatible store', await openDocumentStore('s3://documents/one', account, machineClock)],
] as const;

for (const [name, store] of stores) {
  describe(`${name} as the store`, () => {
    it('keeps bytes under their key, replaces and deletes them, and lists the keys of a part', async () => {
      const [one, two] = [newFileKey('document'), newFileKey('contract')];
      assert.equal(await store.get(one), undefined);
      assert.deepEqual(await store.list('document-'), []);
      const large = Buffer.alloc(26_000_000, 'x');
      await store.put(one, Buffer.from('first'));
      await store.put(one, large);
      await store.put(two, Buffer.from('two'));
      assert.ok((await store.get(one))?.equals(large));
      assert.equal(String(await store.get(two)), 'two');
      assert.deepEqual(await store.list(`${one.split('/')[0]}/`), [one]);
      assert.deepEqual(await store.list(two), [two]);
      await store.delete(one);
      await store.delete(one);
      assert.equal(await store.get(one), undefined);
    });
  });
}

it('a file below DATA_DIR is its owner’s alone, and no half file has its name', async () => {
  const [, store] = stores[0];
  const key = newFileKey('document');
  await store.put(key, Buffer.from('sealed'));
  const path = join(folder, 'documents', key);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
  assert.equal(readFileSync(path, 'utf8'), 'sealed');
  assert.deepEqual(readdirSync(join(path, '..')), [key.split('/')[1]]);
});

it('a store that fails is told with its address and what to do', async () => {
  const fails = (pattern: RegExp) => (error: unknown) =>
    error instanceof DocumentStoreError && pattern.test(error.message);
  await assert.rejects(
    openDocumentStore('ftp://x', null, machineClock),
    fails(/ftp:\/\/x is no place for documents/),
  );
  await assert.rejects(
    openDocumentStore('s3://documents', null, machineClock),
    fails(/set AWS_ACCESS_KEY_ID/),
  );
  const nowhere = await openDocumentStore('/dev/null/documents', null, machineClock);
  await assert.rejects(
    nowhere.put('document-00/a', Buffer.of(1)),
    fails(/the store of documents, .* fails \(ENOTDIR\)/),
  );
});

it('keys tell nothing and lie in 256 parts by their kind', () => {
  const key = newFileKey('document');
  assert.match(key, /^document-[0-9a-f]{2}\/[0-9a-f]{32}$/);
  assert.notEqual(key, newFileKey('document'));
  assert.equal(keyPart('contract', 10), 'contract-0a/');
});

it('a sealed file opens under its name with its secret alone, and not after a change', () => {
  const secret = newFileSecret();
  const bytes = Buffer.from('statement of Ana');
  const sealed = sealWith(secret, bytes, 'file a');
  assert.ok(openWith(secret, sealed, 'file a').equals(bytes));
  assert.ok(!sealed.includes('Ana'));
  assert.ok(!sealWith(secret, bytes, 'file a').equals(sealed));
  const DAMAGED = /unable to authenticate data|no sealed file/;
  assert.throws(() => openWith(secret, sealed, 'file b'), DAMAGED);
  assert.throws(() => openWith(newFileSecret(), sealed, 'file a'), DAMAGED);
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = changed[at]! ^ 1;
    assert.throws(() => openWith(secret, changed, 'file a'), DAMAGED, `byte ${at}`);
  }
  for (const length of [0, 1, 28, sealed.length - 1]) {
    assert.throws(() => openWith(secret, sealed.subarray(0, length), 'file a'), DAMAGED, `${length} bytes`);
  }
});
