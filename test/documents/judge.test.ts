/** Rules look at the text of strangers in the service itself: no text may hold it up. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MOST_LINE_LENGTH, MOST_TEXT } from '../../src/subjects/documents/reader/reading.ts';
import { judgeDocument } from '../../src/subjects/documents/rules/judge-document.ts';
import { loadLayouts } from '../../src/subjects/documents/uses/load-layouts.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { ANA } from './support.ts';

const layouts = await loadLayouts(null);
/** Ten times what they take on a busy machine. */
const MOST_MS = 5_000;

const TEXTS: Readonly<Record<string, string>> = {
  letters: 'á',
  'characters of two units': '😀',
  'amounts that are none': '1,1.',
  signs: '$ ',
  dashes: '-',
  spaces: ' ',
  labels: 'nombre ',
  'labels in words': 'nombre',
  'labels of columns': 'nombre  ',
  words: 'a b ',
  months: 'enero de   de',
};

for (const [what, text] of Object.entries(TEXTS)) {
  it(`the longest text of ${what} is judged in time`, async () => {
    for (const start of ['', 'Enero 2026 ', 'nombre']) {
      const line = (start + text.repeat(MOST_LINE_LENGTH)).slice(0, MOST_LINE_LENGTH);
      const lines = Array.from({ length: MOST_TEXT / MOST_LINE_LENGTH }, () => line);
      const took = await cpuMsOf(() =>
        judgeDocument('earnings', { method: 'text', pages: 1, lines, confidence: 1 }, ANA, layouts),
      );
      assert.ok(took < MOST_MS, `${took} ms of CPU`);
    }
  });
}

it('a document of which a part was not read never counts by itself', () => {
  const { lines } = layouts.find(({ id }) => id === 'rodar-co-1')!.examples[0]!;
  const { holder_name: name, holder_id: idNumber } = layouts.find(({ id }) => id === 'rodar-co-1')!
    .examples[0]!.finds;
  const reasonAt = (confidence: number) =>
    judgeDocument('earnings', { method: 'text', pages: 1, lines, confidence }, { name, idNumber }, layouts)
      .reason;
  assert.deepEqual([reasonAt(1), reasonAt(0.5)], ['read', 'low_confidence']);
});
