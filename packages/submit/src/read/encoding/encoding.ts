/** The encodings of text files: those that the first bytes show, and reading all as UTF-8. */
import { isAscii } from 'node:buffer';
import { BulkError } from '../bulk-error.ts';
import { CODE_PAGES, decodeCodePage, isCodePage } from './code-pages.ts';

export const ENCODINGS = ['UTF-8', 'UTF-16LE', 'UTF-16BE', ...CODE_PAGES] as const;
export type Encoding = (typeof ENCODINGS)[number];

/**
 * The encoding that the first bytes show: by a byte order mark, or by the zeros that UTF-16 puts beside Latin letters.
 */
export function encodingOfHead(head: Buffer): Encoding | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'UTF-16LE';
  if (head[0] === 0xfe && head[1] === 0xff) return 'UTF-16BE';
  if (!head.includes(0)) return null;
  const zeros = [...head.subarray(0, 200).entries()].filter(([, byte]) => byte === 0);
  const inOdd = zeros.some(([index]) => index % 2 === 1);
  const inEven = zeros.some(([index]) => index % 2 === 0);
  if (inOdd && !inEven) return 'UTF-16LE';
  if (inEven && !inOdd) return 'UTF-16BE';
  return null;
}

/** True where the file begins with the mark of UTF-8, as files of rejected rows do. */
export function hasUtf8Mark(head: Buffer): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
}

/** The bytes as UTF-8 without a byte order mark. Throws `BulkError` where they are not of the encoding. */
export async function* asUtf8(
  file: string,
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  if (isCodePage(encoding)) {
    for await (const chunk of withoutMark(chunks))
      yield isAscii(chunk) ? chunk : Buffer.from(decodeCodePage(chunk.toString('latin1'), encoding));
    return;
  }
  if (encoding === 'UTF-8') return yield* withoutMark(chunks);
  const decoder = new TextDecoder(encoding.toLowerCase(), { fatal: true });
  try {
    for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) {
      throw new BulkError({
        en: `${file}: it is not valid ${encoding}`,
        es: `${file}: no es ${encoding} válido`,
      });
    }
    throw error;
  }
}

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true;
  for await (const chunk of chunks) {
    const marked = first && hasUtf8Mark(chunk);
    first = false;
    yield marked ? chunk.subarray(3) : chunk;
  }
}
