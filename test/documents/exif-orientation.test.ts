/** The orientation of pictures by their EXIF data, also where the data lies. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { exifOrientation } from '../../src/subjects/documents/reader/picture-lines.ts';
import { exifOf, withExif } from './files.ts';

const FORMS = ['jpeg', 'png', 'webp'] as const;

describe('the EXIF orientation of a picture', () => {
  for (const form of FORMS) {
    it(`is found in a ${form}, in both orders of bytes`, () => {
      for (let value = 1; value <= 8; value += 1) {
        for (const order of ['II', 'MM'] as const) {
          assert.equal(exifOrientation(withExif(form, exifOf(value, { order }))), value);
        }
      }
    });

    it(`is 1 in a ${form} that says nothing, or nothing that can be understood`, () => {
      const wrong = [
        Buffer.alloc(0),
        Buffer.from('II'),
        exifOf(0),
        exifOf(9),
        exifOf(65_535),
        exifOf(6, { type: 4 }),
        exifOf(6, { count: 2 }),
        exifOf(6, { count: 0xffff_ffff }),
        exifOf(6, { directory: 0xffff_fff0 }),
        exifOf(6, { directory: 0xffff_ffff }),
        exifOf(6, { entries: 0 }),
        exifOf(6, { tag: 0x0111, entries: 65_535 }),
        // A directory that begins in itself.
        exifOf(6, { tag: 0x0111, directory: 0 }),
        exifOf(6).subarray(0, -7),
      ];
      for (const exif of wrong) assert.equal(exifOrientation(withExif(form, exif)), 1, exif.toString('hex'));
    });

    it(`is told of any bytes in a ${form} without an error, in a time that their number bounds`, () => {
      const values = fc.uint8Array({ maxLength: 200 });
      fc.assert(
        fc.property(values, values, (exif, tail) => {
          const bytes = Buffer.concat([withExif(form, Buffer.from(exif)), tail]);
          for (const cut of [bytes.length, bytes.length >> 1]) {
            const value = exifOrientation(bytes.subarray(0, cut));
            assert.ok(value >= 1 && value <= 8);
          }
        }),
      );
    });
  }

  it('is that of the first data, wherever these stand before the end', () => {
    const two = Buffer.concat([
      withExif('png', exifOf(6)).subarray(0, -12),
      withExif('png', exifOf(3)).subarray(8),
    ]);
    assert.equal(exifOrientation(two), 6);
    const named = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exifOf(8)]);
    assert.equal(exifOrientation(withExif('webp', named)), 8);
  });

  it('is not looked for without end: chunks of nothing, and bytes that fill up', () => {
    const chunks = Buffer.concat([withExif('png', exifOf(1)).subarray(0, 8), Buffer.alloc(24_000_000)]);
    assert.equal(exifOrientation(chunks), 1);
    assert.equal(
      exifOrientation(Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(24_000_000, 0xff)])),
      1,
    );
  });
});
