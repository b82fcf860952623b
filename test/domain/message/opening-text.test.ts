/** Until when messages wait for their hour, with the zone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingsText, openingText } from '../../../src/domain/message/opening-text.ts';

test('a time is told in UTC, and on the clock of a country whose built-in window opens then', () => {
  const at = (text: string) => openingText(new Date(text));
  assert.equal(at('2026-11-30T12:00:00Z'), '2026-11-30 12:00Z (07:00 in America/Bogota)');
  assert.equal(at('2026-11-28T13:00:00Z'), '2026-11-28 13:00Z (08:00 in America/Bogota)');
  assert.equal(at('2026-11-30T12:01:00Z'), '2026-11-30 12:01Z');
});

test('two times are told as one where they are the same', () => {
  const [one, other] = [new Date('2026-11-30T12:00:00Z'), new Date('2026-11-30T15:30:00Z')];
  assert.equal(openingsText(one, one), openingText(one));
  assert.equal(openingsText(one, other), '2026-11-30 12:00Z (07:00 in America/Bogota) to 2026-11-30 15:30Z');
});
