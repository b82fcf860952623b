/** Sealed objects open whole, unchanged, under their own name and with their own key, or not at all. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BackupError } from '../../src/subjects/backup/errors.ts';
import { BackupKey } from '../../src/subjects/backup/sealed.ts';

const NAME = '000001-1f3a9c0d/base-000001';
const key = new BackupKey(randomBytes(32));
const refused = (pattern: RegExp) => (error: unknown) =>
  error instanceof BackupError && pattern.test(error.message);

describe('a sealed object', () => {
  it('opens to what was sealed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        const object = await key.seal(NAME, Buffer.from(bytes));
        assert.deepEqual(await key.open(NAME, object), Buffer.from(bytes));
      }),
    );
  });

  it('is refused with any bit changed', async () => {
    const object = await key.seal(NAME, Buffer.from('some bytes of a store'));
    await fc.assert(
      fc.asyncProperty(fc.nat(object.length * 8 - 1), async (bit) => {
        const changed = Buffer.from(object);
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
        await assert.rejects(key.open(NAME, changed), BackupError);
      }),
    );
  });

  it('is refused where it is cut off at any length, or goes on', async () => {
    const object = await key.seal(NAME, Buffer.from('some bytes of a store'));
    for (let length = 0; length < object.length; length += 1) {
      await assert.rejects(key.open(NAME, object.subarray(0, length)), refused(/is cut off/));
    }
    await assert.rejects(key.open(NAME, Buffer.concat([object, Buffer.of(0)])), refused(/was changed/));
  });

  it('is refused under the name of another part, with another key, and in another form', async () => {
    const object = await key.seal(NAME, Buffer.from('some bytes of a store'));
    await assert.rejects(key.open(NAME.replace(/1$/, '2'), object), refused(/belongs under another name/));
    const other = new BackupKey(randomBytes(32));
    await assert.rejects(other.open(NAME, object), refused(/another BACKUP_KEY/));
    const later = Buffer.from(object);
    later[3] = 2;
    await assert.rejects(key.open(NAME, later), refused(/use the version that made the backup/));
  });

  it('shows nothing of what was sealed, and never looks the same twice', async () => {
    const plain = Buffer.from('María Pérez '.repeat(3));
    const [first, second] = [await key.seal(NAME, plain), await key.seal(NAME, plain)];
    assert.ok(!first.includes('Pérez'));
    assert.ok(!first.subarray(28).equals(second.subarray(28)));
  });
});
