/** Bytes are written whole, or not at all: a disk that fills up takes the first part of a write without an error. */
import assert from 'node:assert/strict';
import type { FileHandle } from 'node:fs/promises';
import { it } from 'node:test';
import { writeAt } from '../../src/ground/embedded/write-at.ts';

const AT = 3;

/** A file on a disk that takes `atOnce` bytes of each write, and has room for `room` bytes. */
function fileOf(room: number, atOnce: number) {
  const taken = Buffer.alloc(AT + room);
  const file = {
    write: async (bytes: Buffer, offset: number, length: number, position: number) => {
      const bytesWritten = Math.min(length, atOnce, taken.length - position);
      if (bytesWritten === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      bytes.copy(taken, position, offset, offset + bytesWritten);
      return { bytesWritten, buffer: bytes };
    },
  };
  return { file: file as unknown as FileHandle, taken };
}

it('the rest of a write that was cut short is written behind its first part', async () => {
  for (const atOnce of [1, 4, 9, 10]) {
    const { file, taken } = fileOf(10, atOnce);
    await writeAt(file, Buffer.from('0123456789'), AT);
    assert.equal(taken.toString('latin1'), '\0\0\x000123456789', `${atOnce} bytes at once`);
  }
});

it('a file that has no room for all bytes fails the write', async () => {
  for (const room of [0, 1, 9]) {
    await assert.rejects(writeAt(fileOf(room, 4).file, Buffer.from('0123456789'), AT), { code: 'ENOSPC' });
  }
});
