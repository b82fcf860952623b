/** How rows become batches: as the client would cut and pair them (issue 4). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asElement } from '../../client/src/batches.ts';
import { cutRows } from '../../src/bulk/cut.ts';
import { applicant, fileOf, sourceOf } from './files.ts';

test('what a row is sent as is what the client would make of it, whatever its ID number is', async () => {
  const ids = ['1020', ' 1020 ', '\ud800x', 'ñ', '', 1020, 1.5, true, null, undefined, {}, ['1020']];
  const list = ids.map((id) => ({ ...applicant(), id_number: id }));
  const source = await sourceOf(fileOf('a.json', JSON.stringify(list)));
  let elements = 0;
  for await (const { rows } of cutRows(source)) {
    for (const { element } of rows) {
      if (element === null) continue;
      elements += 1;
      const { input, ...rest } = asElement(JSON.parse(element.json));
      assert.deepEqual(element, rest);
    }
  }
  assert.equal(elements, ids.length - 1);
});

test('no batch has an ID number twice, more than 100 applicants or more than 1,000 rows', async () => {
  const refused = { income: '1.500' };
  const list = Array.from({ length: 2_500 }, (_, index) => ({
    ...applicant(index < 1_200 ? refused : {}),
    id_number: `${Math.floor(index / 2)}`,
  }));
  const source = await sourceOf(fileOf('a.jsonl', list.map((one) => JSON.stringify(one)).join('\n')));
  let rowsSeen = 0;
  for await (const { rows } of cutRows(source)) {
    const echoes = rows.flatMap(({ element }) => (element === null ? [] : [element.echo]));
    assert.equal(new Set(echoes).size, echoes.length);
    assert.ok(echoes.length <= 100 && rows.length <= 1_100, `${echoes.length} of ${rows.length}`);
    rowsSeen += rows.length;
  }
  assert.equal(rowsSeen, list.length);
});
