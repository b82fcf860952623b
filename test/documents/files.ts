/** Files for the tests of documents: small, and each with one thing that matters. */
import { crc32, deflateSync } from 'node:zlib';
import { pdfOf, statementPdf } from '../../src/subjects/simulator/made-up-files.ts';

export { pdfOf, statementPdf };

/** A PNG of one colour, which says any size; `rows` are drawn, at most what the size says. */
export function png(width: number, height: number, rows = height): Buffer {
  // Each row begins with the number of its filter: none.
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 255)]);
  return pngOf(width, height, Buffer.concat(Array.from({ length: rows }, () => row)));
}

/** A PNG of these rows of grey, each of which begins with a zero. */
export function pngOf(width: number, height: number, rows: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(rows);
  const chunks = [chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks]);
}

function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const frame = Buffer.alloc(8 + body.length);
  frame.writeUInt32BE(content.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), 4 + body.length);
  return frame;
}

/** What a phone writes about a picture: a directory with one entry, of which each part may be wrong. */
export function exifOf(
  orientation: number,
  some: {
    order?: 'II' | 'MM';
    type?: number;
    count?: number;
    directory?: number;
    entries?: number;
    tag?: number;
  } = {},
): Buffer {
  const { order = 'MM', type = 3, count = 1, directory = 8, entries = 1, tag = 0x0112 } = some;
  const bytes = Buffer.alloc(26);
  bytes.write(order, 0, 'latin1');
  const write = (value: number, at: number, size: 2 | 4) =>
    order === 'II' ? bytes.writeUIntLE(value, at, size) : bytes.writeUIntBE(value, at, size);
  write(42, 2, 2);
  write(directory, 4, 4);
  write(entries, 8, 2);
  write(tag, 10, 2);
  write(type, 12, 2);
  write(count, 14, 4);
  write(orientation, 18, 2);
  return bytes;
}

/** EXIF data in a picture of nothing, or in `picture`, a JPEG or a PNG. */
export function withExif(form: 'jpeg' | 'png' | 'webp', exif: Buffer, picture?: Buffer): Buffer {
  if (form === 'png') {
    const bytes = picture ?? png(1, 1);
    // Behind the head: a signature of 8 bytes and a chunk of 25.
    return Buffer.concat([bytes.subarray(0, 33), chunk('eXIf', exif), bytes.subarray(33)]);
  }
  if (form === 'jpeg') {
    const bytes = picture ?? jpegHead(1, 1);
    const frame = Buffer.from([0xff, 0xe1, 0, 0]);
    const content = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]);
    frame.writeUInt16BE(content.length + 2, 2);
    return Buffer.concat([bytes.subarray(0, 2), frame, content, bytes.subarray(2)]);
  }
  const head = Buffer.alloc(8);
  head.write('EXIF', 0, 'latin1');
  head.writeUInt32LE(exif.length, 4);
  return Buffer.concat([webpHead(1, 1), head, exif]);
}

/** The head of a JPEG that says this size. It holds no picture. */
export function jpegHead(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const start = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0];
  return Buffer.concat([Buffer.from(start), frame, Buffer.from([0xff, 0xda, 0, 2, 0, 0xff, 0xd9])]);
}

/** The head of a WebP of the extended form. */
export function webpHead(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(30);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WEBPVP8X', 8, 'latin1');
  bytes.writeUInt32LE(10, 16);
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
}

/** The boxes of a HEIC that say its size and that of a tile. */
export function heicHead(width: number, height: number): Buffer {
  const box = (name: string, content: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + content.length, 0);
    head.write(name, 4, 'latin1');
    return Buffer.concat([head, content]);
  };
  const size = (w: number, h: number) => {
    const content = Buffer.alloc(12);
    content.writeUInt32BE(w, 4);
    content.writeUInt32BE(h, 8);
    return box('ispe', content);
  };
  return Buffer.concat([
    box('ftyp', Buffer.from('heic\0\0\0\0mif1heic', 'latin1')),
    size(512, 512),
    size(width, height),
  ]);
}

/** A zip archive without files. */
export const EMPTY_ZIP = Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1');

/** A PDF with one page whose text is packed by zlib; `unpacked` bytes of spaces come before it. */
export function packedPdf(text: string, unpacked: number): Buffer {
  const packed = deflateSync(Buffer.concat([Buffer.alloc(unpacked, ' '), Buffer.from(text)]), { level: 1 });
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n${packed.toString('latin1')}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  return assembled(objects, '');
}

/** What `pdftoppm` writes for a page: PGM, or PBM with one bit a pixel. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly bits: 1 | 8;
  readonly data: Buffer;
}

/** A PDF whose pages are pictures, as scanners make it; `rotate` is how a viewer turns them. */
export function scannedPdf(pictures: readonly Raster[], rotate: 0 | 90 | 180 | 270 = 0): Buffer {
  const own = pictures.flatMap(({ width, height, bits, data }, index) => {
    const packed = deflateSync(data);
    // A PBM has 1 for black.
    const form = bits === 1 ? '/BitsPerComponent 1 /Decode [1 0]' : '/BitsPerComponent 8';
    const head = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray ${form}`;
    const draw = 'q 595 0 0 842 0 0 cm /I Do Q';
    const first = 3 + 3 * index;
    return [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate ${rotate} /Contents ${first + 1} 0 R /Resources << /XObject << /I ${first + 2} 0 R >> >> >>`,
      `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
      `<< ${head} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n${packed.toString('latin1')}\nendstream`,
    ];
  });
  const kids = pictures.map((_, index) => `${3 + 3 * index} 0 R`).join(' ');
  const pages = `<< /Type /Pages /Count ${pictures.length} /Kids [${kids}] >>`;
  return assembled(['<< /Type /Catalog /Pages 2 0 R >>', pages, ...own], '');
}

/** A PDF of these objects, from the second one on: its pages, their parts and so on. */
export function pdfOfObjects(objects: readonly string[], trailer = ''): Buffer {
  return assembled(['<< /Type /Catalog /Pages 2 0 R >>', ...objects], trailer);
}

/** A PDF that asks for a password: its key fits no empty one. */
export function encryptedPdf(): Buffer {
  const noise = 'a1'.repeat(32);
  const encrypt = `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <${noise}> /U <${noise}> >>`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
  ];
  return assembled(objects, `${encrypt} /ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`);
}

function assembled(objects: readonly string[], trailer: string): Buffer {
  let text = '%PDF-1.4\n';
  const rows = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
