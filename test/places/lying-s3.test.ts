/** A store of objects that lies costs no data but its own, and is told to the operator. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { openBackupPlace } from '../../src/subjects/backup/place-of-backups.ts';
import { hostile } from './hostile-s3.ts';

const MANIFEST = '000001-00000001/manifest';
const fails = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

const page = (names: readonly string[], next = '') =>
  `<ListBucketResult>${names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('')}${next}</ListBucketResult>`;

describe('an S3 store', () => {
  it('redirects no request with our signature to another address', async () => {
    const other = await hostile((_, response) => response.end('secrets'));
    const { place } = await hostile((_, response) =>
      response.writeHead(307, { location: `${other.endpoint}/taken` }).end(),
    );
    await assert.rejects(place.get(MANIFEST), fails(/answered 307/));
    await assert.rejects(place.put(MANIFEST, Buffer.of(1)), fails(/answered 307/));
    assert.deepEqual(other.requests, []);
  });

  it('is given up where its list repeats, or is no XML', async () => {
    const next = '<NextContinuationToken>again</NextContinuationToken>';
    const { place } = await hostile((_, response) => response.end(page(['ours/a/b'], next)));
    await assert.rejects(place.list(''), fails(/its list of objects does not end/));
    const { place: other } = await hostile((_, response) => response.end('<html><p>'));
    await assert.rejects(other.list(''), fails(/its list of objects is no XML/));
  });

  it('gets no request about an object outside of the place, whatever it lists', async () => {
    const names = [
      'ours/000001-00000001/../../theirs/x',
      'ours/000001-00000001/a?acl',
      'theirs/b/c',
      MANIFEST,
    ];
    const { place, requests } = await hostile((request, response) =>
      response.end(request.method === 'GET' ? page([...names, 'ours/000001-00000001/base-000001']) : ''),
    );
    await place.clear('000001-00000001');
    assert.deepEqual(requests.slice(1), ['DELETE /backups/ours/000001-00000001/base-000001']);
    const { account } = await hostile((_, response) => response.end());
    await assert.rejects(
      openBackupPlace('s3://backups/ours/../theirs', account, machineClock),
      fails(/is no place for backups/),
    );
  });
});
