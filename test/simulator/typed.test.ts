/** The field of the simulator's page that finds phones and names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

// The page's scripts have no types.
const { isFound, phoneIn, plain } = await import(
  new URL('../../src/subjects/simulator/page/typed.js', import.meta.url).href
);

describe("the field that finds on the simulator's page", () => {
  const chat = { name: 'Ana Gómez  Ñandú', phone: '+573005550101' };

  for (const [text, isThere] of [
    ['gomez', true],
    ['GÓMEZ', true],
    ['Go\u0301mez ñandu', true],
    ['ｇｏｍｅｚ', true],
    ['\u200egomez', true],
    ['0101', true],
    ['555 01', true],
    ['gomes', false],
    ['gomez 0101', false],
  ] as const) {
    it(`${JSON.stringify(text)} ${isThere ? 'finds' : 'does not find'} ${chat.name}`, () => {
      assert.equal(isFound(chat, plain(text)), isThere);
    });
  }

  it('asks the service for what begins as a phone and has its digits', () => {
    for (const text of [
      '+57 300 555 0101',
      '(604) 555-0101',
      '300 555 0101 ext. 12',
      '\u202a+57 300\u2011555\u20110101',
    ])
      assert.notEqual(phoneIn(plain(text)), null, text);
    for (const text of ['gomez', '555 010', 'ana 3005550101']) assert.equal(phoneIn(plain(text)), null, text);
  });

  it('knows who has no name', () => assert.equal(isFound({ name: null, phone: '+1' }, plain('x')), false));
});
