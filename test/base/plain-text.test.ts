/** The one rule of texts that somebody writes and a second person reads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasHidden, readableText } from '../../src/ground/base/plain-text.ts';

const code = (...points: number[]) => String.fromCodePoint(...points);
/** Each stands between two letters. */
const HIDDEN: Readonly<Record<string, string>> = {
  'a right-to-left override': code(0x202e),
  'a left-to-right mark': code(0x200e),
  'an isolate': code(0x2066),
  'an Arabic letter mark': code(0x61c),
  'a zero-width space': code(0x200b),
  'a zero-width joiner': code(0x200d),
  'a zero-width non-joiner': code(0x200c),
  'a word joiner': code(0x2060),
  'a byte order mark': code(0xfeff),
  'a soft hyphen': code(0xad),
  'a Hangul filler': code(0x3164),
  'a combining grapheme joiner': code(0x34f),
  'a Mongolian vowel separator': code(0x180e),
  'a selector': code(0xfe0f),
  'a tag': code(0xe0041),
  'a line separator': code(0x2028),
  'a paragraph separator': code(0x2029),
  'the blank of Braille': code(0x2800),
  'an annotation anchor': code(0xfff9),
  'a text hidden in the tags of a flag': code(0x1f3f4, 0xe0068, 0xe0069, 0xe007f),
  'a joiner behind an emoji': `${code(0x1f600, 0x200d)}b`,
};
const EMOJI: Readonly<Record<string, string>> = {
  'a family': code(0x1f468, 0x200d, 0x1f469, 0x200d, 0x1f467),
  'a heart with its selector': code(0x2764, 0xfe0f),
  'a heart on fire': code(0x2764, 0xfe0f, 0x200d, 0x1f525),
  'a key cap': code(0x31, 0xfe0f, 0x20e3),
  'a skin tone': code(0x1f44d, 0x1f3fd),
  'a flag of letters': code(0x1f1e8, 0x1f1f4),
  'a flag of tags': code(0x1f3f4, 0xe0067, 0xe0062, 0xe0073, 0xe0063, 0xe0074, 0xe007f),
  'a selector that a keyboard adds': code(0x1f44d, 0x1f3fd, 0xfe0f),
};

describe('a text for a second person', () => {
  for (const [what, hidden] of Object.entries(HIDDEN)) {
    it(`has no ${what}`, () => {
      assert.equal(hasHidden(`a${hidden}b`), true);
      assert.equal(readableText(`a${hidden}b`, 100), null);
      assert.equal(readableText(`a\na${hidden}b`, 100, { hasLines: true }), null);
    });
  }
  for (const [what, emoji] of Object.entries(EMOJI)) {
    it(`may have ${what}`, () => {
      assert.equal(readableText(`a${emoji}b`, 100), `a${emoji}b`);
    });
  }

  it('has one line, or lines where they are asked for, and never another control character', () => {
    for (const control of ['\n', '\r', '\t', '\0', '\u0085', '\u001b', '\ud800'])
      assert.equal(readableText(`a${control}b`, 100), null, JSON.stringify(control));
    assert.equal(readableText(' a\r\nb\n', 100, { hasLines: true }), 'a\nb');
    for (const control of ['\r', '\t', '\0', '\u0085', '\ud800'])
      assert.equal(readableText(`a${control}b`, 100, { hasLines: true }), null, JSON.stringify(control));
  });

  it('is trimmed, not empty, and counted in code points', () => {
    assert.equal(readableText('  papers seen ', 11), 'papers seen');
    assert.equal(readableText('papers seen', 10), null);
    assert.equal(readableText('   ', 10), null);
    const smile = code(0x1f600);
    assert.equal(readableText(smile.repeat(3), 3), smile.repeat(3));
    assert.equal(readableText(smile.repeat(4), 3), null);
  });
});
