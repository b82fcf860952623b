/** A file of an operator that says two things about one name is refused: nobody can know which one was meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseOperatorJson, RepeatedNameError } from '../../src/ground/base/operator-json.ts';

/** JSON whose objects may have a name twice, as pairs. */
const { value } = fc.letrec<{ value: string; pairs: [string, string][] }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }).map((leaf) => JSON.stringify(leaf)),
    fc.string({ unit: fc.constantFrom('"', '\\', ':', '{', '}', 'a') }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[ ${items.join(' ,\n')}]`),
    tie('pairs').map((pairs) => `{${pairs.map(([name, item]) => `${name} : ${item}`).join(',')}}`),
  ),
  pairs: fc.uniqueArray(
    fc.tuple(
      fc
        .string({ maxLength: 2, unit: fc.constantFrom('a', 'b', '"', '\\', ':', '{') })
        .map((name) => JSON.stringify(name)),
      tie('value'),
    ),
    { maxLength: 3, selector: ([name]) => name },
  ),
}));

test('JSON whose names are each there once has the value that JSON.parse gives', () => {
  fc.assert(fc.property(value, (text) => assert.deepEqual(parseOperatorJson(text), JSON.parse(text))));
});

test('a name that an object has twice is refused, at every depth and however it is written', () => {
  fc.assert(
    fc.property(
      value,
      value,
      fc.string(),
      fc.constantFrom('%', '[%]', '{"x":%}', '[{"x":1},{"y":[%]}]'),
      (one, other, name, around) => {
        const escaped = [...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
        const written = name.length === escaped.length ? `"${escaped.join('')}"` : JSON.stringify(name);
        const text = around.replace('%', () => `{${JSON.stringify(name)}:${one},${written} :${other}}`);
        assert.throws(() => parseOperatorJson(text), RepeatedNameError);
      },
    ),
  );
});

test('what is no JSON is refused as JSON.parse refuses it', () => {
  for (const text of ['', '{', '{"a":1,}', '{"a" 1}'])
    assert.throws(() => parseOperatorJson(text), SyntaxError);
});

const noNewerNode = process.platform === 'darwin' && 'the registry has no newer Node for this system';

test('Node reads a name with an escape as it is written, whatever was read before', {
  skip: noNewerNode,
}, () => {
  // Node 24.21 took the name of an earlier object that had the characters of the escape as its name.
  JSON.parse(String.raw`{"x":1,"\\u0061":2}`);
  const text = String.raw`{"x":1,"\u0061bcdef":2}`;
  assert.deepEqual(parseOperatorJson(text), { x: 1, abcdef: 2 });
});
