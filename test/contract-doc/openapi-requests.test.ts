/** docs/contract.md and the OpenAPI document agree on requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../src/contract/openapi-request.ts';
import { codesIn } from '../support/markdown.ts';
import { checkerOf, pointer } from '../support/openapi.ts';
import { document, schemas, source } from './openapi.ts';
import { GOOD, table } from './page.ts';

const { matches } = checkerOf(source);
const takes = (changes: object) => {
  const element = JSON.parse(JSON.stringify({ ...GOOD, ...changes }));
  return matches(pointer('components', 'schemas', 'Application'), element);
};

describe('the contract’s page and the OpenAPI document: requests', () => {
  const rows = table('### Application input\n').map(([name, aliases, type, taken, absent]) => ({
    name: codesIn(name as string)[0] as string,
    aliases: codesIn(aliases as string),
    type,
    taken: taken as string,
    absent,
  }));

  it('contract "Application input": both have the same names and the same required names', () => {
    const names = rows.flatMap(({ name, aliases }) => [name, ...aliases]);
    assert.deepEqual(Object.keys(schemas.Application?.properties ?? {}), names);
    for (const { name, absent } of rows) assert.equal(takes({ [name]: undefined }), absent !== 'error', name);
  });

  it('contract "Application input": both take the same values', () => {
    for (const { name, aliases, type, taken } of rows) {
      const [least, most] = taken.match(/\d+/g)?.map(Number) ?? [];
      if (/^(1 to|at most) \d+ characters$/.test(taken)) {
        const length = most ?? (least as number);
        assert.ok(takes({ [name]: 'x'.repeat(length) }), name);
        assert.ok(!takes({ [name]: 'x'.repeat(length + 1) }), name);
        assert.equal(takes({ [name]: '' }), taken.startsWith('at most'), name);
      } else if (taken.includes('digits')) {
        for (const length of [least, most] as number[])
          assert.ok(takes({ [name]: '5'.repeat(length) }), name);
        assert.ok(!takes({ [name]: '5'.repeat((least as number) - 1) }), name);
        assert.ok(!takes({ [name]: '5'.repeat((most as number) + 1) }), name);
      } else if (type === 'number') {
        assert.deepEqual(
          ['1', 1, 0, '0'].map((value) => takes({ [name]: value })),
          [true, true, false, false],
        );
      } else if (type === 'boolean') {
        const values = [...codesIn(taken).map((value) => value === 'true'), 'true', 1];
        assert.deepEqual(
          values.map((value) => takes({ [name]: value })),
          [true, true, false, false],
        );
      } else {
        for (const one of [name, ...aliases]) {
          for (const value of codesIn(taken)) assert.ok(takes({ [name]: undefined, [one]: value }), value);
        }
        assert.equal(takes({ [name]: 'other' }), name === 'currency', name);
        assert.equal(takes({ [name]: 1 }), taken.includes('integer') || name === 'currency', name);
      }
    }
  });

  it('contract "Limits": both have the same limits', () => {
    const limits = new Map(table('\n## Limits\n').map(([limit, value]) => [limit, value]));
    const { minItems, maxItems } = schemas.Batch?.properties.applications as Schema;
    assert.equal(limits.get('applications in a request'), `${minItems} to ${maxItems}`);
    const { minLength, maxLength } = document.components.parameters.IdempotencyKey.schema;
    assert.equal(limits.get('characters of an `Idempotency-Key`'), `${minLength} to ${maxLength}`);
    const { minimum, maximum } = schemas.ResultProEn?.properties.score as Schema;
    assert.equal(limits.get('score'), `${minimum} to ${maximum}`);
  });

  it('D38: both have the same phones of the sandbox', () => {
    const phones = document.paths['/DEV']?.post.description.match(/\+990\d+/g) ?? [];
    assert.deepEqual(
      phones,
      table('**D38. ').map(([phone]) => codesIn(phone as string)[0]),
    );
  });
});
