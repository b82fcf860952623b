/** Backups in an S3-compatible store, with a server that checks the signatures. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openBackupPlace } from '../../src/subjects/backup/place-of-backups.ts';
import { restoreBackup } from '../../src/subjects/backup/restore.ts';
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

describe('a backup in an S3 store', () => {
  it('restores', async () => {
    const store = await newStore();
    const place = await openBackupPlace('s3://backups/two', account, machineClock);
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
});
