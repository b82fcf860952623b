/** A folder and an S3-compatible store as places, the store with a server that checks the signatures. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { Folder } from '../../src/ground/places/folder.ts';
import { S3 } from '../../src/ground/places/s3.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { BACKUPS, openBackupPlace } from '../../src/subjects/backup/place-of-backups.ts';
import { eventually } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';
import { hostile } from './hostile-s3.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-places-'));
after(() => rmSync(folder, { recursive: true, force: true }));
// The package has no types.
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver');
const peer = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: join(folder, 's3'),
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
const placeAt = (address: string, changes: Partial<typeof account> = {}) =>
  new S3(address, { ...account, ...changes }, BACKUPS, machineClock);
const fails = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

describe('every place', () => {
  for (const place of [new Folder(join(folder, 'place'), BACKUPS), placeAt('s3://backups/one/store')]) {
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

describe('an S3 store', () => {
  it('is told to fail with a wrong key, a bucket that is not there, a silent endpoint, and without an account', async () => {
    const wrong = placeAt('s3://backups', { secretAccessKey: 'wrong' });
    await assert.rejects(wrong.list(''), fails(/answered 403 \(SignatureDoesNotMatch\)/));
    const nowhere = placeAt('s3://nowhere');
    await assert.rejects(nowhere.list(''), fails(/there is no such bucket/));
    await assert.rejects(nowhere.put('x/y', Buffer.of(1)), fails(/404 \(NoSuchBucket\)/));
    const silent = placeAt('s3://backups', { endpoint: 'http://127.0.0.1:1' });
    await assert.rejects(silent.get('x'), fails(/look at the bucket, AWS_ENDPOINT_URL_S3/));
    await assert.rejects(openBackupPlace('s3://backups', null, machineClock), fails(/set AWS_ACCESS_KEY_ID/));
    await assert.rejects(
      openBackupPlace('ftp://backups', account, machineClock),
      fails(/is no place for backups/),
    );
  });

  it('reads a list of several pages', async () => {
    const page = (name: string, next: string) =>
      `<ListBucketResult><Contents><Key>${name}</Key></Contents>${next}</ListBucketResult>`;
    const { place } = await hostile((request, response) => {
      const token = new URL(request.url ?? '', 'http://peer').searchParams.get('continuation-token');
      const next = '<NextContinuationToken>a&amp;b=</NextContinuationToken>';
      response.end(
        token === 'a&b=' ? page('ours/x/b', '') : page('ours/x/a', token === null ? next : '<Wrong/>'),
      );
    });
    assert.deepEqual(await place.list(''), ['x/a', 'x/b']);
  });

  it('is asked five times where a connection breaks or it is busy, after rests that double', async () => {
    const clock = new TestClock();
    let requests = 0;
    const { place } = await hostile((request, response) => {
      requests += 1;
      if (requests === 1) request.destroy();
      else response.writeHead(requests < 5 ? 503 : 200).end('there');
    }, clock);
    const got = place.get('x');
    for (const [index, restMs] of [50, 100, 200, 400].entries()) {
      await eventually('the rest after an answer', () => clock.nextMs === restMs);
      await clock.advance(restMs - 1);
      assert.equal(requests, index + 1);
      await clock.advance(1);
      await eventually('the next request', () => requests === index + 2);
    }
    assert.equal(String(await got), 'there');
  });

  it('has a minute for each answer, and counts as broken after that', async () => {
    const clock = new TestClock();
    let requests = 0;
    const { place } = await hostile(() => {
      requests += 1;
    }, clock);
    const got = assert.rejects(place.get('x'), fails(/fails: The operation was aborted due to timeout/));
    await eventually('the request', () => requests === 1);
    await clock.advance(59_999);
    assert.equal(requests, 1);
    await clock.advance(1);
    for (let asked = 1; asked < 5; asked += 1) {
      await eventually('the rest', () => (clock.nextMs ?? 60_000) < 60_000);
      await clock.advance(clock.nextMs!);
      await eventually('the next request', () => requests === asked + 1);
      await clock.advance(60_000);
    }
    await got;
    assert.equal(requests, 5);
  });
});
