/**
 * Tells the type of a file by its content, whatever the file claims to be, and refuses files that are damaged, too
 * large a picture, or two things at once (docs/documents.md, "States and reasons"). Pure.
 */
import type { DocumentReason } from '../../../domain/document/document.ts';

// First the width and height in the head of a picture, so that a huge picture is refused before anything decodes it.

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size in the head of a PNG; null: it is cut off. */
function pngSize(bytes: Buffer): PictureSize | null {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/**
 * Whether a marker starts a frame. Some numbers in its range mean other things (tables, extensions, arithmetic tables).
 */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** No camera writes more segments and padding bytes before the first frame. */
const MOST_STEPS = 100_000;

/** The size in the first frame of a JPEG; null: there is none. */
function jpegSize(bytes: Buffer): PictureSize | null {
  let at = 2;
  for (let steps = 0; at + 9 < bytes.length && steps < MOST_STEPS; steps += 1) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    // Padding bytes, and markers without a length.
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
function webpSize(bytes: Buffer): PictureSize | null {
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

/**
 * The largest size that a HEIC tells for its parts, because the whole picture is larger than its tiles; null: it tells
 * none.
 */
function heicSize(bytes: Buffer): PictureSize | null {
  const head = bytes.subarray(0, MOST_HEAD);
  let largest: PictureSize | null = null;
  for (let at = head.indexOf('ispe', 8, 'latin1'); at !== -1; at = head.indexOf('ispe', at + 4, 'latin1')) {
    if (at + 16 > head.length) break;
    const size = { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) };
    if (largest === null || size.width * size.height > largest.width * largest.height) largest = size;
  }
  return largest;
}

/** The types that are taken. */
export type FileType = 'application/pdf' | 'image/jpeg' | 'image/png' | 'image/webp' | 'image/heic';

/** A picture with more pixels is refused, because decoding takes four bytes for each pixel. */
const MOST_PIXELS = 50_000_000;
const MOST_SIDE = 30_000;
/** Readers of PDFs look for the beginning in the first bytes, and for the end in the last ones: so many each. */
const PDF_LOOK = 1024;

const SIZES: Readonly<Record<Exclude<FileType, 'application/pdf'>, (bytes: Buffer) => PictureSize | null>> = {
  'image/jpeg': jpegSize,
  'image/png': pngSize,
  'image/webp': webpSize,
  'image/heic': heicSize,
};

/**
 * The type of a file that may be stored, or why it may not be. `claimed` is the type that the channel told; null: it
 * told none.
 */
export function checkFile(
  bytes: Buffer,
  claimed: string | null,
): { readonly type: FileType } | { readonly refused: DocumentReason } {
  if (bytes.length === 0) return { refused: 'empty' };
  const type = typeOf(bytes);
  if (type === null) return { refused: 'unsupported_type' };
  if (isArchive(bytes) || hasLaterPdf(bytes, type)) return { refused: 'polyglot' };
  if (!fits(claimed, type)) return { refused: 'type_mismatch' };
  if (type === 'application/pdf') return isPageToo(bytes) ? { refused: 'polyglot' } : { type };
  const end = endOf(bytes, type);
  if (end === null) return { refused: 'damaged' };
  if (end < bytes.length) return { refused: 'polyglot' };
  const size = SIZES[type](bytes);
  if (size === null || size.width === 0 || size.height === 0) return { refused: 'damaged' };
  const isHuge = size.width * size.height > MOST_PIXELS || Math.max(size.width, size.height) > MOST_SIDE;
  return isHuge ? { refused: 'too_many_pixels' } : { type };
}

/** Whether a file that claims this type can be a document at all. A voice message is refused before it is fetched. */
export function mayBeDocument(claimed: string | null): boolean {
  return claimed === null || !/^\s*(audio|video)\//i.test(claimed);
}

const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'mif1', 'msf1'];
const PNG_HEAD = '\x89PNG\r\n\x1a\n';

function typeOf(bytes: Buffer): FileType | null {
  const head = bytes.toString('latin1', 0, 16);
  if (head.startsWith('%PDF-')) return 'application/pdf';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith(PNG_HEAD)) return 'image/png';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  if (head.slice(4, 8) === 'ftyp' && HEIC_BRANDS.includes(head.slice(8, 12))) return 'image/heic';
  return null;
}

/** Other names of a type. Below are names that say nothing about the type. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/heif': 'image/heic',
  'application/x-pdf': 'application/pdf',
};
const SILENT = ['', 'application/octet-stream', 'binary/octet-stream'];

function fits(claimed: string | null, type: FileType): boolean {
  const name = (claimed ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return SILENT.includes(name) || (ALIASES[name] ?? name) === type;
}

/** At the end of a zip archive is a record of 22 bytes with a comment behind it. */
const ZIP_END = Buffer.from('PK\x05\x06', 'latin1');
const ZIP_END_BYTES = 22;
const ZIP_MOST_COMMENT = 65_535;

/** Whether the file is also a zip archive. An archive is read from its end, so one file may be two things at once. */
function isArchive(bytes: Buffer): boolean {
  const from = Math.max(0, bytes.length - ZIP_END_BYTES - ZIP_MOST_COMMENT);
  for (
    let at = bytes.lastIndexOf(ZIP_END);
    at >= from;
    at = at === 0 ? -1 : bytes.lastIndexOf(ZIP_END, at - 1)
  ) {
    if (at + ZIP_END_BYTES <= bytes.length && isZipEnd(bytes.subarray(at))) return true;
  }
  return false;
}

/**
 * A real record tells one disk, and as many entries on it as in all. Compressed data may have the mark by chance, but
 * not these numbers.
 */
function isZipEnd(record: Buffer): boolean {
  const disks = [record.readUInt16LE(4), record.readUInt16LE(6)];
  const isOneDisk = disks.every((disk) => disk === 0) || disks.every((disk) => disk === 0xffff);
  return isOneDisk && record.readUInt16LE(8) === record.readUInt16LE(10);
}

/**
 * Whether a reader of PDFs finds a second beginning of a PDF in the file. In a picture it may stand anywhere before an
 * end mark, because some readers look through the whole file.
 */
function hasLaterPdf(bytes: Buffer, type: FileType): boolean {
  if (bytes.subarray(0, PDF_LOOK + 5).indexOf('%PDF-', 1, 'latin1') !== -1) return true;
  if (type === 'application/pdf') return false;
  const begin = bytes.indexOf('%PDF-', 1, 'latin1');
  return begin !== -1 && bytes.indexOf('%%EOF', begin, 'latin1') !== -1;
}

/** What browsers take for the beginning of an HTML page (WHATWG MIME Sniffing, 7.1). */
const PAGE = /<(?:!doctype html|html|head|script|iframe|body|svg)[\s>]/i;

/** Whether a browser that looks into the file, or a program that reads its end, finds something other than the PDF. */
function isPageToo(bytes: Buffer): boolean {
  const tail = pdfTail(bytes);
  if (tail.length > PDF_LOOK) return true;
  return PAGE.test(bytes.toString('latin1', 0, PDF_LOOK)) || PAGE.test(tail.toString('latin1'));
}

/**
 * What follows the last end mark of a PDF, without spaces. Empty if there is no mark: then the reader tells that the
 * file is damaged.
 */
function pdfTail(bytes: Buffer): Buffer {
  const mark = bytes.lastIndexOf('%%EOF', undefined, 'latin1');
  if (mark === -1) return bytes.subarray(bytes.length);
  let end = bytes.length;
  while (end > mark + 5 && isSpace(bytes[end - 1] ?? 0)) end -= 1;
  return bytes.subarray(mark + 5, end);
}

/** White space of PDF (ISO 32000, 7.2.3). Compared byte by byte, because a file may end with millions of these. */
function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x00 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b);
}

/**
 * Where a picture ends; null: it is cut off. Phones append data of their own to a JPEG, and a HEIC consists of boxes.
 */
function endOf(bytes: Buffer, type: Exclude<FileType, 'application/pdf'>): number | null {
  if (type === 'image/png') return pngEnd(bytes);
  if (type === 'image/webp') {
    const end = bytes.readUInt32LE(4) + 8;
    return end > bytes.length ? null : end + (end % 2 === 1 && end < bytes.length ? 1 : 0);
  }
  return bytes.length;
}

/** `IEND` as a number, which is fast to compare: a file may have millions of chunks. */
const IEND = 0x49454e44;

function pngEnd(bytes: Buffer): number | null {
  for (let at = PNG_HEAD.length; at + 12 <= bytes.length; ) {
    const next = at + 12 + bytes.readUInt32BE(at);
    if (bytes.readUInt32BE(at + 4) === IEND) return next <= bytes.length ? next : null;
    at = next;
  }
  return null;
}
