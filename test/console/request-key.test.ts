/** The keys of forms that an operator may send again. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestKey } from '../../console/src/api/request-key.ts';

it('is the same for the same request until it got through, and another one for another request', () => {
  const key = new RequestKey();
  const first = key.of([1, 'text']);
  assert.equal(key.of([1, 'text']), first);
  const second = key.of([1, 'another']);
  assert.notEqual(second, first);
  assert.notEqual(key.of([1, 'text']), first);
  key.done();
  const third = key.of([1, 'text']);
  assert.notEqual(third, first);
  assert.match(third, /^[0-9a-f-]{36}$/);
});
