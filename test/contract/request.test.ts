/** Which bodies are read as a batch (D3), without a service. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestError, readSubmittedBatch } from '../../src/contract/request.ts';
import { MAX_VALUES, UNCOUNTED_BYTES } from '../../src/contract/texts.ts';

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
