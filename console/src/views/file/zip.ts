/** Writes a ZIP archive (APPNOTE 6.3): its entries are compressed as they come, so none is held as a whole. */

/** An entry that is written piece by piece. */
export class ZipEntry {
  readonly name: string;
  readonly #compression = new CompressionStream('deflate-raw');
  readonly #writer = this.#compression.writable.getWriter();
  readonly #pieces = collect(this.#compression.readable);
  #crc = 0xffffffff;
  #size = 0;

  constructor(name: string) {
    this.name = name;
  }

  async write(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    this.#crc = crcAfter(this.#crc, bytes);
    this.#size += bytes.length;
    await this.#writer.write(bytes);
  }

  async end(): Promise<Packed> {
    await this.#writer.close();
    const pieces = await this.#pieces;
    const packed = pieces.reduce((sum, { length }) => sum + length, 0);
    return { name: this.name, pieces, packed, size: this.#size, crc: ~this.#crc >>> 0 };
  }
}

/** An entry that is whole. */
interface Packed {
  readonly name: string;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  readonly packed: number;
  readonly size: number;
  readonly crc: number;
}

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
/** The first of January 1980: the archive does not tell when it was made. */
const DATE = 0x21;
const DEFLATED = 8;
const VERSION = 20;

/** The archive of these entries. They have 4 GiB at most. */
export function zipOf(entries: readonly Packed[], type: string): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = new TextEncoder().encode(entry.name);
    const common = [VERSION, 0, DEFLATED, 0, DATE];
    const sizes = [entry.crc, entry.packed, entry.size];
    const local = record(0x04034b50, common, sizes, [name.length, 0], LOCAL_BYTES);
    const place = [name.length, 0, 0, 0, 0, 0, 0];
    const central = record(0x02014b50, [VERSION, ...common], sizes, place, CENTRAL_BYTES);
    new DataView(central.buffer).setUint32(42, offset, true);
    parts.push(local, name, ...entry.pieces);
    directory.push(central, name);
    offset += LOCAL_BYTES + name.length + entry.packed;
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, entries.length, true);
  end.setUint16(10, entries.length, true);
  end.setUint32(12, directoryBytes, true);
  end.setUint32(16, offset, true);
  return new Blob([...parts, ...directory, end.buffer], { type });
}

/** A header: its signature, numbers of 2 bytes, of 4 bytes, and again of 2 bytes. */
function record(
  signature: number,
  shorts: readonly number[],
  longs: readonly number[],
  rest: readonly number[],
  bytes: number,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(bytes));
  view.setUint32(0, signature, true);
  let at = 4;
  for (const short of shorts) {
    view.setUint16(at, short, true);
    at += 2;
  }
  for (const long of longs) {
    view.setUint32(at, long, true);
    at += 4;
  }
  for (const short of rest) {
    if (at + 2 > bytes) break;
    view.setUint16(at, short, true);
    at += 2;
  }
  return new Uint8Array(view.buffer);
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces;
    pieces.push(new Uint8Array(value));
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

function crcAfter(before: number, bytes: Uint8Array): number {
  let crc = before;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return crc >>> 0;
}
