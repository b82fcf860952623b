/** Writes bytes at a position of a file completely, or rejects. Touches that file alone. */
import type { FileHandle } from 'node:fs/promises';

/**
 * Writes all bytes at a position of a file. A disk that fills up takes the first part of a write without an error; then
 * the next write fails, and this rejects with its error.
 */
export async function writeAt(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
