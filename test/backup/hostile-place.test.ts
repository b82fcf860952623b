/** A place that lies, stalls or never ends costs neither memory nor other data, and is told to the operator. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { BackupError } from '../../src/backup/errors.ts';
import { BACKUPS, MOST_OBJECT_BYTES, openBackupPlace } from '../../src/backup/place-of-backups.ts';
import { S3, type S3Account } from '../../src/places/s3.ts';
import { newFolder, newPlace } from './support.ts';

const MANIFEST = '000001-00000001/manifest';
const fails = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

/** A server with answers of its own, and the requests that it got. */
async function hostile(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((done) => server.once('listening', done));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account: S3Account = { accessKeyId: 'a', secretAccessKey: 'b', region: 'us-east-1', endpoint };
  return { place: new S3('s3://backups/ours', account, BACKUPS), requests, endpoint, account };
}

const page = (names: readonly string[], next = '') =>
  `<ListBucketResult>${names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('')}${next}</ListBucketResult>`;

describe('an S3 store', () => {
  it('is read no further than an object may be long', async () => {
    const part = Buffer.alloc(1024 * 1024);
    let sent = 0;
    const { place } = await hostile((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(part)) sent += part.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    await assert.rejects(place.get(MANIFEST), fails(/gives more than 20971520 bytes for one object/));
    assert.ok(sent < 4 * MOST_OBJECT_BYTES, `${sent} bytes were taken`);
  });

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
      openBackupPlace('s3://backups/ours/../theirs', account),
      fails(/is no place for backups/),
    );
  });

  it('that cuts an answer is asked again, and then told to fail', async () => {
    const { place, requests } = await hostile((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('short');
      response.destroy();
    });
    await assert.rejects(place.get(MANIFEST), fails(/the place of the backups, .* fails/));
    assert.equal(requests.length, 5);
  });
});

describe('a folder', () => {
  it('gives no object that is a pipe, a device, a folder, or larger than an object may be', async () => {
    const place = newPlace();
    const folder = join(place.address, '000001-00000001');
    mkdirSync(folder, { recursive: true });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('/dev/zero', join(folder, 'endless'));
    mkdirSync(join(folder, 'folder'));
    for (const name of ['pipe', 'endless', 'folder']) {
      await assert.rejects(place.get(`000001-00000001/${name}`), fails(/is no file: use another backup/));
    }
    writeFileSync(join(folder, 'manifest'), '');
    truncateSync(join(folder, 'manifest'), MOST_OBJECT_BYTES + 1);
    await assert.rejects(place.get(MANIFEST), fails(/is larger than any part of a backup/));
  });

  it('is cleared without following links', async () => {
    const place = newPlace();
    const precious = newFolder();
    mkdirSync(precious);
    mkdirSync(place.address);
    writeFileSync(join(precious, 'manifest'), 'mine');
    symlinkSync(precious, join(place.address, '000001-00000001'));
    await place.clear('000001-00000001');
    execFileSync('test', ['-s', join(precious, 'manifest')]);
    assert.equal(await place.get(MANIFEST), undefined);
  });
});
