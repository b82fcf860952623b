/**
 * Takes the text of a picture as lines, guessed by OCR, after it has read from the EXIF data how the picture is turned.
 * Runs only in the reader's process.
 */
import { openOcr } from './ocr.ts';
import { boundLines, type ReadFault, type ReadText } from './reading.ts';

/**
 * How a phone was held, by the EXIF data of a picture (Exif 2.32, 4.6.4, tag Orientation). A phone stores the pixels as
 * they lie on the sensor, and every viewer turns them.
 */

const ORIENTATION = 0x0112;
const SHORT = 3;
const ENTRY_BYTES = 12;
const EXIF = 'Exif\0';
/** No camera writes more chunks and segments. */
const MOST_PARTS = 100_000;

/** The orientation, 1 to 8; 1 if the picture (JPEG, PNG or WebP) tells nothing understandable. */
export function exifOrientation(bytes: Buffer): number {
  const tiff = tiffOf(bytes);
  if (tiff === null || tiff.length < 8) return 1;
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const number = (at: number, size: 2 | 4) => {
    if (at + size > tiff.length) return 0;
    return isLittle ? tiff.readUIntLE(at, size) : tiff.readUIntBE(at, size);
  };
  if (number(2, 2) !== 42) return 1;
  // Only the first directory is about the picture itself, so no other one is read.
  const directory = number(4, 4);
  for (let left = number(directory, 2), at = directory + 2; left > 0; left -= 1, at += ENTRY_BYTES) {
    if (number(at, 2) !== ORIENTATION) continue;
    const value = number(at + 8, 2);
    const isOne = number(at + 2, 2) === SHORT && number(at + 4, 4) === 1;
    return isOne && value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** The EXIF data without its frame; null: there is none. */
function tiffOf(bytes: Buffer): Buffer | null {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\xff\xd8')) return segmentOf(bytes);
  const isPng = head.startsWith('\x89PNG');
  if (!isPng && !/^RIFF.{4}WEBP/s.test(head)) return null;
  for (let at = isPng ? 8 : 12, parts = 0; at + 8 <= bytes.length && parts < MOST_PARTS; parts += 1) {
    const size = isPng ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at + 4);
    const name = isPng ? bytes.toString('latin1', at + 4, at + 8) : bytes.toString('latin1', at, at + 4);
    if (name === 'eXIf' || name === 'EXIF') return unframed(bytes.subarray(at + 8, at + 8 + size));
    // A PNG has a checksum after each chunk. A WebP pads a chunk to an even length.
    at += 8 + size + (isPng ? 4 : size % 2);
  }
  return null;
}

/** The first segment of EXIF in a JPEG, before its pixels. */
function segmentOf(bytes: Buffer): Buffer | null {
  for (let at = 2, parts = 0; at + 4 <= bytes.length && parts < MOST_PARTS; parts += 1) {
    const marker = bytes[at] === 0xff ? (bytes[at + 1] ?? 0) : 0;
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker < 0xc0 || marker === 0xda || marker === 0xd9) return null;
    else {
      const content = bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2));
      if (marker === 0xe1 && content.toString('latin1', 0, EXIF.length) === EXIF) return unframed(content);
      at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
    }
  }
  return null;
}

/** Drops the name before the data, which each JPEG has, and the WebP of some writers. */
function unframed(content: Buffer): Buffer {
  const isFramed = content.toString('latin1', 0, EXIF.length) === EXIF;
  return isFramed ? content.subarray(EXIF.length + 1) : content;
}

/** The lines of a picture, or why there are none. */
export async function pictureLines(bytes: Uint8Array): Promise<ReadText | { readonly fault: ReadFault }> {
  const ocr = await openOcr();
  const guess = ocr(bytes, exifOrientation(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
  if (guess === 'damaged') return { fault: 'damaged' };
  if (guess === 'noise') return { fault: 'no_text' };
  return { method: 'ocr', pages: 1, lines: boundLines(guess.lines), confidence: guess.confidence };
}
