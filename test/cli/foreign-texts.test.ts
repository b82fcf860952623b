/** What the command line writes is safe for a terminal, wherever its texts come from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inLine, printable } from '../../src/ground/base/plain-text.ts';
import { writeList, writeNote, writeOutput } from '../../src/program/cli/output.ts';
import { Sink } from './harness.ts';
import { HARMLESS, HOSTILE, UNSAFE } from './unsafe-text.ts';

test('unsafe characters become escapes, harmless ones stay, and JSON keeps its meaning', () => {
  assert.doesNotMatch(printable(HOSTILE), UNSAFE);
  assert.match(
    printable(HOSTILE),
    /^\\u001b\[31mred\\u001b\]0;title\\u0007 \\u009b2J\\u007f\\u000d\\u0008\\u0009 \\u202e/,
  );
  assert.equal(printable('\u{e0041}\ud800'), '\\udb40\\udc41\\ud800');
  // What nobody sees, outside of an emoji: a name with it looks like another one.
  assert.equal(printable('An\u200da\u3164 \u2800 a\ufe0f'), 'An\\u200da\\u3164 \\u2800 a\\ufe0f');
  // Free code points in the blocks of format characters.
  assert.equal(printable('\u2065\u{e0000}'), '\\u2065\\udb40\\udc00');
  assert.equal(printable(`${HARMLESS}\n`), `${HARMLESS}\n`);
  assert.equal(inLine('a\nb'), 'a\\nb');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual(JSON.parse(printable(JSON.stringify({ [text]: text }))), { [text]: text });
      assert.equal(printable(printable(text)), printable(text));
      assert.doesNotMatch(printable(text), UNSAFE);
    }),
  );
});

const LIST = {
  columns: [{ title: 'name', value: (text: string) => text }],
  json: (text: string) => text,
  none: 'none',
};

test('nothing is written to stdout or stderr as it came, and no foreign text begins a line of a table', async () => {
  const io = { stdout: new Sink(), stderr: new Sink() };
  await writeOutput(io, `${HOSTILE}\n`);
  writeNote(io, HOSTILE);
  await writeList(io, [`${HOSTILE}\nerror: all is lost`], {}, LIST);
  for (const { text } of [io.stdout, io.stderr]) {
    assert.match(text, /red/);
    assert.doesNotMatch(text, UNSAFE);
  }
  assert.doesNotMatch(io.stdout.text, /^error/m);
});
