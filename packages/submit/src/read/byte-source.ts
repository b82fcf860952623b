/**
 * The bytes of a file, and what reading takes from the place where it runs. `commands/node-file.ts` is a file on a
 * disk, `chosen-file.ts` one that a person chose in a browser. All else that reads knows neither Node nor a browser.
 */

/** A file as it was when it was chosen. */
export interface ByteSource {
  /** The path; in a browser, which tells no path, the name. */
  readonly path: string;
  /** The name without folders, for texts. */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  readonly mtime: Date;
  /** Opens the file for one reading. Throws `BulkError`. */
  open(): Promise<OpenBytes>;
  /** True where the file still has this size and time. */
  isUnchanged(): Promise<boolean>;
  /** SHA-256 of all bytes, which are added in their order. */
  sha256(): Sha256;
  /** Unpacks raw Deflate (RFC 1951), in pieces. Throws any error for bytes that are none. */
  inflate(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** The CRC-32 of what had the checksum `before`, and of `bytes` behind it. */
  crc32(bytes: Uint8Array, before: number): number;
}

export interface Sha256 {
  add(bytes: Uint8Array): void;
  /** The digest in hex. */
  end(): Promise<string>;
}

export interface OpenBytes {
  /** The bytes from `at` on; fewer than `length` at the end of the file alone. */
  read(at: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The bytes from `start` up to `end`, or to the end of the file. */
export async function* bytesBetween(
  bytes: OpenBytes,
  start: number,
  end: number,
  pieceBytes: number,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const piece = await bytes.read(at, Math.min(pieceBytes, end - at));
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}
