/** A restore on a disk that fills up fails, and never takes a part of a file for the whole. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { REPOSITORY } from '../support/sources.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-full-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Runs a module where no file can be longer than `kib`: a longer write is cut short, as on a disk that is full. */
function within(kib: number, module: string) {
  const node = [process.execPath, '--input-type=module', '-e', module];
  return run('bash', ['-c', `ulimit -f ${kib}; exec "$@"`, 'bash', ...node], { cwd: REPOSITORY });
}

const UNPACK = `
  import { unpack } from './src/subjects/backup/base/volumes.ts';
  const about = Buffer.from(JSON.stringify({ file: 'page', at: 0, length: 8192 }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(about.length);
  await unpack(Buffer.concat([length, about, Buffer.alloc(8192, 1)]), ${JSON.stringify(folder)});
`;
const PLACE_LOG = `
  import { randomBytes } from 'node:crypto';
  import { placeLog } from './src/subjects/backup/log/place-log.ts';
  import { pieceName } from './src/subjects/backup/names.ts';
  import { BACKUPS } from './src/subjects/backup/place-of-backups.ts';
  import { Folder } from './src/ground/places/folder.ts';
  import { BackupKey } from './src/subjects/backup/sealed.ts';
  const place = new Folder(${JSON.stringify(join(folder, 'place'))}, BACKUPS);
  const key = new BackupKey(Buffer.alloc(32, 7));
  const piece = { name: pieceName('000001-00000000', 0n, 65536n), from: 0n, to: 65536n };
  await place.put(piece.name, await key.seal(piece.name, Buffer.alloc(65536, 1)));
  await placeLog({ place, key }, [piece], 1, ${JSON.stringify(folder)});
`;

for (const [what, module] of [
  ['a file of the store', UNPACK],
  ['a file of the log', PLACE_LOG],
] as const) {
  test(`${what} that does not fit fails the restore`, async () => {
    await within(64 * 1024, module);
    await assert.rejects(within(4, module), /EFBIG/);
  });
}
