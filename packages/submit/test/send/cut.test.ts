/** Rows become the same batches that the client would cut and pair. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { asElement, contentOf, MAX_BODY_BYTES } from '../../../../client/src/batches.ts';
import type { Application } from '../../../../client/src/index.ts';
import { LANGUAGES } from '../../../../src/ground/base/language.ts';
import type { Source } from '../../src/map/source.ts';
import { bodyFor, cutRows, HeldBatches, type RowBatch } from '../../src/send/cut.ts';
import { applicant, csvOf, fileOf, sourceOf } from '../files.ts';

async function batchesOf(name: string, list: readonly object[]): Promise<RowBatch[]> {
  const text = name.endsWith('l') ? list.map((one) => JSON.stringify(one)).join('\n') : JSON.stringify(list);
  return cutAll(await sourceOf(fileOf(name, text)));
}

async function cutAll(source: Source): Promise<RowBatch[]> {
  const batches: RowBatch[] = [];
  for await (const batch of cutRows(source)) batches.push(batch);
  return batches;
}

function bodyOf(batch: RowBatch): Uint8Array {
  return bodyFor(batch, batch.sent, 'en');
}

function applicationsIn(batch: RowBatch): Application[] {
  return JSON.parse(Buffer.from(bodyOf(batch)).toString()).applications;
}

test('a batch has the body and the echoes of the client, with any ID numbers', async () => {
  const ids = ['1020', ' 1021 ', '\ud800x', 'ñ', '', 1022, 1.5, true, null, undefined, {}, ['1020'], '"\\\n'];
  const refused = [1.5, true];
  const batches = await batchesOf(
    'a.json',
    ids.map((id) => ({ ...applicant(), id_number: id })),
  );
  for (const batch of batches) {
    const elements = applicationsIn(batch).map(asElement);
    assert.deepEqual(
      batch.rows.filter(({ reason }) => reason === null).map(({ echo }) => echo),
      elements.map(({ echo }) => echo),
    );
    assert.deepEqual(Buffer.from(bodyOf(batch)), Buffer.from(contentOf(elements).body));
  }
  assert.equal(batches.flatMap(applicationsIn).length, ids.length - refused.length);
});

test('no batch has an ID number twice, more than 100 applicants, or far more rows than it sends', async () => {
  const refused = { income: '1.500' };
  // The first sent row comes after a thousand refused rows, and most rows after it are refused too.
  const list = Array.from({ length: 5_000 }, (_, index) => ({
    ...applicant(index === 1_000 || index >= 4_000 ? {} : refused),
    id_number: `${Math.floor(index / 2)}`,
  }));
  const batches = await batchesOf('a.jsonl', list);
  for (const { rows } of batches) {
    const echoes = rows.filter(({ reason }) => reason === null).map(({ echo }) => echo);
    assert.equal(new Set(echoes).size, echoes.length);
    assert.ok(echoes.length <= 100 && rows.length <= 1_100, `${echoes.length} of ${rows.length}`);
  }
  assert.equal(batches.flatMap(({ rows }) => rows).length, list.length);
});

test('no body is larger than a request may be, with any texts', async () => {
  const texts = ['x', '\u0001', 'ñ', '😀', '"'].flatMap((text) =>
    [6_000, 6_600, 60_000].map((n) => text.repeat(n)),
  );
  const list = Array.from({ length: 300 }, (_, index) => ({
    ...applicant({ city: texts[index % texts.length] as string }),
    id_number: `${index}`,
  }));
  const batches = await batchesOf('a.jsonl', list);
  for (const batch of batches) {
    for (const language of LANGUAGES) {
      const { length } = bodyFor(batch, batch.sent, language);
      assert.ok(length <= MAX_BODY_BYTES, `${length}`);
    }
  }
  assert.ok(batches.some(({ rows }) => rows.length < 100));
  assert.equal(batches.flatMap(applicationsIn).length, list.length);
});

test('a row too large for a request is refused with a reason', async () => {
  const list = [applicant({ city: '\u0001'.repeat(800_000) }), applicant()];
  const source = await sourceOf(fileOf('a.csv', csvOf(list)));
  const [batch, ...more] = await cutAll(source);
  assert.deepEqual(more, []);
  assert.deepEqual(
    batch?.rows.map(({ reason }) => reason),
    ['it is too large for a request', null],
  );
  assert.equal(applicationsIn(batch as RowBatch).length, 1);
});

test('the rows of a batch that the quota left over are sent unchanged', async () => {
  const [batch] = await batchesOf(
    'a.json',
    ['1', '2', '3'].map((id) => ({ ...applicant({ city: 'Ñ "' }), id_number: id })),
  );
  assert.ok(batch);
  const all = applicationsIn(batch).map(asElement);
  const left = contentOf(all.filter((_, place) => place !== 1)).body;
  assert.deepEqual(Buffer.from(bodyFor(batch, [0, 2], 'en')), Buffer.from(left));
  const spanish = Buffer.from(bodyFor(batch, [0, 2], 'es')).toString();
  assert.equal(spanish, Buffer.from(left).toString().replace('"applications"', '"aplicaciones"'));
});

test('the batches held from the check are those of a second reading; of a file that is too large none are held', async () => {
  const list = Array.from({ length: 1_000 }, (_, index) => ({
    ...applicant(index % 7 === 0 ? { income: '1.500' } : {}),
    id_number: `${index}`,
  }));
  const source = await sourceOf(fileOf('a.json', JSON.stringify(list)));
  const cut = await cutAll(source);
  const hold = async (maxBytes?: number) => {
    const held = new HeldBatches(source, maxBytes);
    for await (const rows of source.convertedRows()) for (const converted of rows) held.add(converted);
    return held.end();
  };
  assert.deepEqual(await hold(), cut);
  assert.equal(await hold(source.file.bytes.size - 1), null);
  assert.equal(await hold(source.file.bytes.size + 1), null);
});

test('only checked rows of a file go out, also where the file is rewritten meanwhile', async () => {
  const list = Array.from({ length: 3_000 }, (_, index) => ({ ...applicant(), id_number: `${index}` }));
  const path = fileOf('a.csv', csvOf(list));
  const source = await sourceOf(path);
  const sent = new Set<string | undefined>();
  await assert.rejects(async () => {
    for await (const batch of cutRows(source)) {
      for (const { id_number } of applicationsIn(batch)) sent.add(id_number);
      // Rewritten in place, with other applicants in front: the open handle goes on in the middle of another row.
      if (sent.size === 300)
        writeFileSync(path, csvOf([...list.map((one) => ({ ...one, id_number: 'new' })), ...list]));
    }
  }, /^Error: a\.csv: it changed while it was read/);
  assert.ok(!sent.has('new') && sent.size < list.length);
});
