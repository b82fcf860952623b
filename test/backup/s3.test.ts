/** Backups in an S3-compatible store, with a server that checks the signatures. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { BackupError } from '../../src/backup/errors.ts';
import { BACKUPS, openBackupPlace } from '../../src/backup/place-of-backups.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { Folder } from '../../src/places/folder.ts';
import { S3 } from '../../src/places/s3.ts';
import { marksOf, newFolder, newStore, options } from './support.ts';

// The package has no types.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver');
const peer = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: newFolder(),
  configureBuckets: [{ name: 'backups', configs: [] }],
});
const { port } = await peer.run();
after(() => peer.close());

/** The account of the peer. */
const account = {
  accessKeyId: 'S3RVER',
  secretAccessKey: 'S3RVER',
  region: 'us-east-1',
  endpoint: `http://127.0.0.1:${port}`,
};
const fails = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

/** A peer with answers of its own; gives its place. */
async function placeOf(listener: RequestListener): Promise<S3> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  after(() => server.close());
  await new Promise((done) => server.once('listening', done));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new S3('s3://backups', { ...account, endpoint }, BACKUPS);
}

describe('every place', () => {
  const places = [new Folder(newFolder(), BACKUPS), new S3('s3://backups/one/store', account, BACKUPS)];
  for (const place of places) {
    it(`keeps objects under their names: ${place.constructor.name}`, async () => {
      assert.deepEqual(await place.list(''), []);
      assert.equal(await place.get('000001-00000000/manifest'), undefined);
      const large = Buffer.alloc(5_000_000, 'x');
      await place.put('000002-00000000/base-000001', large);
      await place.put('000001-00000000/manifest', Buffer.from('first'));
      await place.put('000001-00000000/manifest', Buffer.from('second'));
      await place.put('000001-00000000/log-end', Buffer.from('end'));
      assert.deepEqual(await place.get('000002-00000000/base-000001'), large);
      assert.equal(String(await place.get('000001-00000000/manifest')), 'second');
      const names = ['000001-00000000/log-end', '000001-00000000/manifest', '000002-00000000/base-000001'];
      assert.deepEqual(await place.list(''), names);
      assert.deepEqual(await place.list('000001-00000000/'), names.slice(0, 2));
      await place.remove('000001-00000000/manifest');
      await place.remove('000001-00000000/manifest');
      assert.deepEqual(await place.list(''), [names[0], names[2]]);
      await place.clear('000002-00000000');
      assert.deepEqual(await place.list(''), [names[0]]);
    });
  }
});

describe('a backup in an S3 store', () => {
  it('restores', async () => {
    const store = await newStore();
    const place = await openBackupPlace('s3://backups/two', account);
    await store.mark('base');
    await store.create(place);
    await store.mark('log');
    await store.archive(place);
    let seen = '';
    const check = async (connection: Parameters<typeof marksOf>[0]) => {
      seen = await marksOf(connection);
    };
    await restoreBackup(newFolder(), { ...options, place, check });
    assert.equal(seen, 'base log');
  });

  it('is told to fail with a wrong key, a bucket that is not there, a silent endpoint, and without an account', async () => {
    const wrong = new S3('s3://backups', { ...account, secretAccessKey: 'wrong' }, BACKUPS);
    await assert.rejects(wrong.list(''), fails(/answered 403 \(SignatureDoesNotMatch\)/));
    await assert.rejects(new S3('s3://nowhere', account, BACKUPS).list(''), fails(/there is no such bucket/));
    await assert.rejects(
      new S3('s3://nowhere', account, BACKUPS).put('x/y', Buffer.of(1)),
      fails(/404 \(NoSuchBucket\)/),
    );
    const silent = new S3('s3://backups', { ...account, endpoint: 'http://127.0.0.1:1' }, BACKUPS);
    await assert.rejects(silent.get('x'), fails(/look at the bucket, AWS_ENDPOINT_URL_S3/));
    await assert.rejects(openBackupPlace('s3://backups', null), fails(/set AWS_ACCESS_KEY_ID/));
    await assert.rejects(openBackupPlace('ftp://backups', account), fails(/is no place for backups/));
  });

  it('reads a list of several pages', async () => {
    const page = (name: string, next: string) =>
      `<ListBucketResult><Contents><Key>${name}</Key></Contents>${next}</ListBucketResult>`;
    const place = await placeOf((request, response) => {
      const token = new URL(request.url ?? '', 'http://peer').searchParams.get('continuation-token');
      const next = '<NextContinuationToken>a&amp;b=</NextContinuationToken>';
      response.end(token === 'a&b=' ? page('x/b', '') : page('x/a', token === null ? next : '<Wrong/>'));
    });
    assert.deepEqual(await place.list(''), ['x/a', 'x/b']);
  });

  it('tries again where a connection breaks or the store is busy', async () => {
    let requests = 0;
    const place = await placeOf((request, response) => {
      requests += 1;
      if (requests === 1) request.destroy();
      else response.writeHead(requests === 2 ? 503 : 200).end('there');
    });
    assert.equal(String(await place.get('x')), 'there');
    assert.equal(requests, 3);
  });
});
