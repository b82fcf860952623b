/** Which bodies are read as a batch (D3), without a service. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { RequestError, readSubmittedBatch } from '../../src/wire/contract/request.ts';
import { MAX_VALUES, UNCOUNTED_BYTES } from '../../src/wire/contract/texts.ts';

const bodyOf = (extra: string) => Buffer.from(`{"applications": [0], "x": ${extra}}`);
/** The values of `bodyOf('[]')`. */
const AROUND = 4;

describe('D3: a large body', () => {
  it('is read where it has as many values as a body may have', () => {
    const body = bodyOf(`[${Array(MAX_VALUES - AROUND).fill(0)}]`);
    assert.ok(body.length > UNCOUNTED_BYTES);
    assert.deepEqual(readSubmittedBatch(body).elements, [0]);
  });

  for (const [form, extra] of [
    ['one value more in an array', `[${Array(MAX_VALUES - AROUND + 1).fill(0)}]`],
    ['arrays in each other', `${'['.repeat(MAX_VALUES)}${']'.repeat(MAX_VALUES)}`],
    ['objects in each other', `${'{"":'.repeat(MAX_VALUES)}0${'}'.repeat(MAX_VALUES)}`],
    ['no JSON but opening brackets', '['.repeat(UNCOUNTED_BYTES)],
  ] as const) {
    it(`is refused for its number of values, before it is parsed: ${form}`, () => {
      assert.throws(
        () => readSubmittedBatch(bodyOf(extra)),
        (error) => error instanceof RequestError && error.problem === 'too_many_values',
      );
    });
  }
});

describe('D3: a body that is not JSON as it comes', () => {
  const text = '{"applications": [{"name": "Ana Gómez"}]}';
  const plain = Buffer.from(text);
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  for (const [form, body, encoding, problem] of [
    ['gzip, named', gzipSync(plain), 'gzip', 'compressed'],
    ['gzip, not named', gzipSync(plain), undefined, 'compressed'],
    ['zstd, not named', zstdCompressSync(plain), undefined, 'compressed'],
    ['deflate, named', deflateSync(plain), 'Deflate', 'compressed'],
    ['brotli, named', brotliCompressSync(plain), 'br', 'compressed'],
    ['compressed bytes that are UTF-8, named', Buffer.from('x'), 'br', 'compressed'],
    ['a byte order mark', Buffer.concat([mark, plain]), undefined, 'byte_order_mark'],
    ['nothing but a byte order mark', mark, undefined, 'byte_order_mark'],
    [
      'a byte order mark before no JSON',
      Buffer.concat([mark, Buffer.from('x')]),
      'identity',
      'byte_order_mark',
    ],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), undefined, 'not_utf8'],
    ['Latin-1', Buffer.from(text, 'latin1'), 'identity', 'not_utf8'],
    ['no JSON', Buffer.from('x'), 'Identity', 'not_json'],
    ['nothing', Buffer.alloc(0), undefined, 'not_json'],
  ] as const) {
    it(`says what it is: ${form}`, () => {
      assert.throws(
        () => readSubmittedBatch(body, encoding),
        (error) => error instanceof RequestError && error.problem === problem,
      );
    });
  }

  it('is read where it is JSON, whatever the header says', () => {
    assert.equal(readSubmittedBatch(plain, 'gzip').elements.length, 1);
  });
});
