/** docs/contract.md and the OpenAPI document agree on requests. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readApplication } from '../../src/domain/application/read-application.ts';
import { LANGUAGES, type Language } from '../../src/ground/base/language.ts';
import type { Schema } from '../../src/wire/contract/openapi-request.ts';
import { codesIn } from '../support/markdown.ts';
import { checkerOf, documentedForm, pointer } from '../support/openapi.ts';
import { document, documents, sources } from './openapi.ts';
import { fields, GOOD, table } from './page.ts';

const checkers = { en: checkerOf(sources.en), es: checkerOf(sources.es) };
const takes = (changes: object, language: Language = 'en') => {
  const good = documentedForm(GOOD, fields, language) as object;
  const element = JSON.parse(JSON.stringify({ ...good, ...changes }));
  return checkers[language].matches(pointer('components', 'schemas', 'Application'), element);
};
const reads = (changes: object) =>
  readApplication(JSON.parse(JSON.stringify({ ...GOOD, ...changes })), fields, 'CO').kind === 'valid';

describe('the contract’s page and the OpenAPI document: requests', () => {
  const rows = table('### Application input\n').map(([name, aliases, type, taken, absent]) => ({
    name: codesIn(name as string)[0] as string,
    aliases: codesIn(aliases as string),
    type,
    taken: taken as string,
    absent,
  }));

  it('contract "Application input": both have the same names and the same required names', () => {
    for (const language of LANGUAGES) {
      const { Application } = documents[language].components.schemas;
      const documented = rows.map(({ name, aliases }) => (language === 'en' ? name : (aliases[0] as string)));
      assert.deepEqual(Object.keys(Application?.properties ?? {}), documented);
      const lines = [...(Application?.description as string).matchAll(/^- (`\w+`(?:, `\w+`)*)$/gm)];
      const read = rows.map(({ name, aliases }) => [name, ...aliases]);
      assert.deepEqual(
        lines.map(([, names]) => codesIn(names as string)),
        read,
      );
      for (const [index, { absent }] of rows.entries()) {
        const name = documented[index] as string;
        assert.equal(takes({ [name]: undefined }, language), absent !== 'error', name);
      }
    }
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
          ['1', 1, 0, '0'].map((value) => [takes({ [name]: value }), reads({ [name]: value })]),
          [
            [false, true],
            [true, true],
            [false, false],
            [false, false],
          ],
        );
      } else if (type === 'boolean') {
        const values = [...codesIn(taken).map((value) => value === 'true'), 'true', 1];
        assert.deepEqual(
          values.map((value) => takes({ [name]: value })),
          [true, true, false, false],
        );
      } else {
        // The document of a language has its own words; the service takes all under every name.
        const [english = '', spanish = english] = taken.split(', in Spanish ');
        for (const value of codesIn(english)) assert.ok(takes({ [name]: value }), value);
        for (const value of codesIn(spanish))
          assert.ok(takes({ [aliases[0] as string]: value }, 'es'), value);
        for (const one of [name, ...aliases]) {
          for (const value of codesIn(taken)) assert.ok(reads({ [name]: undefined, [one]: value }), value);
        }
        assert.equal(takes({ [name]: 'other' }), name === 'currency', name);
        assert.ok(!takes({ [name]: 1 }), name);
        assert.equal(reads({ [name]: 1 }), taken.includes('integer') || name === 'currency', name);
      }
    }
  });

  it('contract "Limits": both have the same limits', () => {
    const limits = new Map(table('\n## Limits\n').map(([limit, value]) => [limit, value]));
    const { minItems, maxItems } = documents.en.components.schemas.Batch?.properties.applications as Schema;
    assert.equal(limits.get('applications in a request'), `${minItems} to ${maxItems}`);
    const { minLength, maxLength } = document.components.parameters.IdempotencyKey.schema;
    assert.equal(limits.get('characters of an `Idempotency-Key`'), `${minLength} to ${maxLength}`);
    const { minimum, maximum } = documents.en.components.schemas.ResultPro?.properties.score as Schema;
    assert.equal(limits.get('score'), `${minimum} to ${maximum}`);
  });

  it('D38: both have the same phones of the sandbox', () => {
    const phones = document.paths['/DEV']?.post?.description.match(/\+990\d+/g) ?? [];
    assert.deepEqual(
      phones,
      table('**D38. ').map(([phone]) => codesIn(phone as string)[0]),
    );
  });
});
