/** A file that a person chose in a browser. */
import { bulkErrorAt } from './bulk-error.ts';
import type { ByteSource } from './byte-source.ts';
import { hexOf } from './bytes.ts';

/** What a browser tells of a file. */
interface Chosen extends Blob {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
}

export function chosenFile(blob: Chosen): ByteSource {
  const bytesOf = async (part: Blob) => new Uint8Array(await part.arrayBuffer());
  return {
    path: blob.name,
    file: blob.name,
    size: blob.size,
    mtime: new Date(blob.lastModified),
    async open() {
      return {
        // A browser refuses to read a file that changed since it was chosen.
        read: (at, length) =>
          bytesOf(blob.slice(at, at + length)).catch(() => {
            throw bulkErrorAt(blob.name, null, null, {
              en: 'it changed or is gone: choose it again',
              es: 'cambió o ya no está: elígelo de nuevo',
              pt: 'mudou ou não existe mais: escolha-o de novo',
            });
          }),
        async close() {},
      };
    },
    isUnchanged: () =>
      bytesOf(blob.slice(0, 1)).then(
        () => true,
        () => false,
      ),
    sha256: () => ({
      add() {},
      async end() {
        return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer())));
      },
    }),
    inflate,
    crc32,
  };
}

async function* inflate(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]() as AsyncIterator<Uint8Array<ArrayBuffer>>;
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return?.();
    },
  });
  const reader = packed.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 1 ? 0xedb88320 ^ (remainder >>> 1) : remainder >>> 1;
  return remainder;
});

function crc32(bytes: Uint8Array, before: number): number {
  let remainder = ~before;
  for (let index = 0; index < bytes.length; index += 1)
    remainder = REMAINDERS[(remainder ^ bytes[index]!) & 0xff]! ^ (remainder >>> 8);
  return ~remainder >>> 0;
}
