/** The width and height that a picture says in its head, so that a huge one is refused before anything decodes it. */

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size in the head of a PNG; null where it is cut off. */
export function pngSize(bytes: Buffer): PictureSize | null {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Start of frame, but for those numbers that mean something else (tables, extensions, arithmetic tables). */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** More segments, and bytes that fill up between them, no camera writes before the first frame. */
const MOST_STEPS = 100_000;

/** The size in the first frame of a JPEG; null where there is none. */
export function jpegSize(bytes: Buffer): PictureSize | null {
  let at = 2;
  for (let steps = 0; at + 9 < bytes.length && steps < MOST_STEPS; steps += 1) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    // Bytes that fill up, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (isFrame(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    else if (marker === 0xda || marker === 0xd9) return null;
    else {
      const length = bytes.readUInt16BE(at + 2);
      if (length < 2) return null;
      at += 2 + length;
    }
  }
  return null;
}

/** The size in the first chunk of a WebP, of each of its three forms; null for another form. */
export function webpSize(bytes: Buffer): PictureSize | null {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return null;
  }
}

/** The properties of a HEIC lie in its first boxes. */
const MOST_HEAD = 1024 * 1024;

/** The largest size that a HEIC says of its parts: the whole picture is larger than its tiles; null without any. */
export function heicSize(bytes: Buffer): PictureSize | null {
  const head = bytes.subarray(0, MOST_HEAD);
  let largest: PictureSize | null = null;
  for (let at = head.indexOf('ispe', 8, 'latin1'); at !== -1; at = head.indexOf('ispe', at + 4, 'latin1')) {
    if (at + 16 > head.length) break;
    const size = { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) };
    if (largest === null || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}
