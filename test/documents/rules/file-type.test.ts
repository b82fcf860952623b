/** What a file is by its content, and what is not taken. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkFile, mayBeDocument } from '../../../src/subjects/documents/rules/file-type.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { EMPTY_ZIP, encryptedPdf, heicHead, jpegHead, packedPdf, pdfOf, png, webpHead } from '../files.ts';

const PDF = pdfOf([[['hola']]]);
const after = (bytes: Buffer, tail: Buffer | string) => Buffer.concat([bytes, Buffer.from(tail)]);
const before = (head: string, bytes: Buffer) => Buffer.concat([Buffer.from(head), bytes]);

const PDF_PAGE = Buffer.from(
  `${PDF.toString('latin1', 0, 9)}%<html ><script>\n${PDF.toString('latin1', 9)}`,
  'latin1',
);

describe('a file is taken', () => {
  const fine: readonly [what: string, bytes: Buffer, claimed: string | null, type: string][] = [
    ['a PDF', PDF, 'application/pdf', 'application/pdf'],
    ['a PDF without a claim', PDF, null, 'application/pdf'],
    ['a PDF whose claim says nothing', PDF, 'application/octet-stream', 'application/pdf'],
    ['a PDF with a parameter', PDF, 'Application/PDF; charset=binary', 'application/pdf'],
    ['a PDF with spaces at its end', after(PDF, '\n\n  \0\0'), null, 'application/pdf'],
    ['an encrypted PDF, which the reader tells', encryptedPdf(), null, 'application/pdf'],
    ['a PNG', png(10, 20), 'image/png', 'image/png'],
    ['a JPEG under its other name', jpegHead(100, 50), 'image/jpg', 'image/jpeg'],
    ['a WebP', webpHead(3_000, 2_000), 'image/webp', 'image/webp'],
    ['a HEIC', heicHead(4_000, 3_000), 'image/heif', 'image/heic'],
  ];
  for (const [what, bytes, claimed, type] of fine) {
    it(what, () => assert.deepEqual(checkFile(bytes, claimed), { type }));
  }
});

describe('a file is refused', () => {
  const refused: readonly [what: string, bytes: Buffer, claimed: string | null, reason: string][] = [
    ['an empty file', Buffer.alloc(0), null, 'empty'],
    ['a text', Buffer.from('hola'), null, 'unsupported_type'],
    ['a voice message', Buffer.from('OggS\0\x02'), 'audio/ogg', 'unsupported_type'],
    ['an archive', EMPTY_ZIP, 'application/pdf', 'unsupported_type'],
    ['a page', Buffer.from('<html>%PDF-1.4'), 'application/pdf', 'unsupported_type'],
    ['a picture that claims to be a PDF', png(1, 1), 'application/pdf', 'type_mismatch'],
    ['a PDF that claims to be a picture', PDF, 'image/jpeg', 'type_mismatch'],
    ['a PDF whose header is not at its beginning', before('GIF89a', PDF), null, 'unsupported_type'],
    ['a picture with a PDF in its head', after(jpegHead(1, 1), '%PDF-1.4'), null, 'polyglot'],
    ['a PDF that is an archive too', after(PDF, EMPTY_ZIP), 'application/pdf', 'polyglot'],
    [
      'a PDF that is an archive with a comment',
      after(after(PDF, EMPTY_ZIP), 'x'.repeat(300)),
      null,
      'polyglot',
    ],
    ['a PDF with a page in its head', PDF_PAGE, null, 'polyglot'],
    ['a PDF with a page behind its end', after(PDF, '<!DOCTYPE html><p>'), null, 'polyglot'],
    [
      'a picture with a PDF far behind its head',
      after(after(jpegHead(1, 1), Buffer.alloc(5_000)), PDF),
      'image/jpeg',
      'polyglot',
    ],
    [
      'a HEIC with a PDF behind its head',
      after(after(heicHead(9, 9), Buffer.alloc(5_000)), PDF),
      null,
      'polyglot',
    ],
    ['a picture that is an archive too', after(jpegHead(1, 1), EMPTY_ZIP), 'image/jpeg', 'polyglot'],
    ['a PDF with much behind its end', after(PDF, 'x'.repeat(2_000)), null, 'polyglot'],
    ['a PNG with something behind its end', after(png(1, 1), 'x'), null, 'polyglot'],
    ['a WebP with something behind its end', after(webpHead(1, 1), 'xx'), null, 'polyglot'],
    ['a PNG that is cut off', png(10, 10).subarray(0, -5), null, 'damaged'],
    ['a PNG without a size', png(0, 10), null, 'damaged'],
    [
      'a JPEG without a frame',
      Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 0, 0, 0, 0, 0, 0]),
      null,
      'damaged',
    ],
    ['a PNG of 100 megapixels', png(10_000, 10_000, 1), 'image/png', 'too_many_pixels'],
    ['a JPEG of 100 megapixels', jpegHead(10_000, 10_000), 'image/jpeg', 'too_many_pixels'],
    ['a WebP of 100 megapixels', webpHead(10_000, 10_000), 'image/webp', 'too_many_pixels'],
    ['a HEIC of 100 megapixels in small tiles', heicHead(12_000, 9_000), 'image/heic', 'too_many_pixels'],
    ['a picture of one line', jpegHead(40_000, 1), 'image/jpeg', 'too_many_pixels'],
  ];
  for (const [what, bytes, claimed, reason] of refused) {
    it(`${what}: ${reason}`, () => assert.deepEqual(checkFile(bytes, claimed), { refused: reason }));
  }
});

it('any bytes are judged without a failure', () => {
  const heads = [
    '%PDF-',
    '\x89PNG\r\n\x1a\n',
    '\xff\xd8\xff',
    'RIFF\x08\0\0\0WEBP',
    '\0\0\0\x18ftypheic',
    '',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 200 }), (head, bytes) => {
      const result = checkFile(Buffer.concat([Buffer.from(head, 'latin1'), bytes]), null);
      assert.ok('type' in result !== 'refused' in result);
    }),
  );
});

it('millions of spaces behind the end of a PDF cost no time', async () => {
  const bytes = after(PDF, Buffer.alloc(25_000_000, ' '));
  const took = await cpuMsOf(() => assert.deepEqual(checkFile(bytes, null), { type: 'application/pdf' }));
  assert.ok(took < 1_000, `${took} ms of CPU`);
});

it('packed data that has the mark of an archive by chance is a PDF', () => {
  const mark = Buffer.from('PK\x05\x06\x01\x02\x03\x04\x05\x06\x07\x08\x09\0', 'latin1');
  const bytes = Buffer.from(PDF);
  mark.copy(bytes, bytes.indexOf('hola') - 5);
  assert.deepEqual(checkFile(Buffer.concat([PDF.subarray(0, -6), mark, Buffer.from('\n%%EOF')]), null), {
    type: 'application/pdf',
  });
  assert.deepEqual(checkFile(packedPdf('x', 10), null), { type: 'application/pdf' });
});

it('a voice message or a video is refused by its claim alone', () => {
  assert.deepEqual(
    ['audio/ogg; codecs=opus', 'VIDEO/mp4', 'image/jpeg', null, 'application/pdf'].map(mayBeDocument),
    [false, false, true, true, true],
  );
});
