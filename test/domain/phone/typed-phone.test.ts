/** A phone that a person types or pastes is read by D11 like one that a partner sends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { typedPhone } from '../../../src/domain/phone/phone.ts';

describe('a phone as it is typed (D11)', () => {
  for (const [text, cleaned] of [
    ['+57 300 123 4567', '+57 300 123 4567'],
    ['(604) 555-0101', '(604) 555-0101'],
    ['+57 300 123 4567 ext. 12', '+57 300 123 4567'],
    ['+57 300 123 4567 Ext 12', '+57 300 123 4567'],
    ['+573001234567x12', '+573001234567'],
    ['(604) 555-0101, extensión 1234', '(604) 555-0101'],
    ['(604) 555-0101 (ext. 3)', '(604) 555-0101'],
    ['11 3456 7890 ramal 5', '11 3456 7890'],
    ['11 3456 7890 int. 5', '11 3456 7890'],
    ['2 2345 6789 anexo 55', '2 2345 6789'],
    ['55 1234 5678 #9', '55 1234 5678'],
    ['tel:+57-300-123-4567;ext=12', '+57-300-123-4567'],
    ['\u202a+57 300 123 4567\u202c', '+57 300 123 4567'],
    ['+57\u00a0300\u202f123\u20114567', '+57 300 123-4567'],
    ['＋５７ ３００ １２３ ４５６７', '+57 300 123 4567'],
    ['+57 300\u2013123\u22124567', '+57 300-123-4567'],
    [' 3001234567\t', '3001234567'],
  ] as const) {
    it(`${JSON.stringify(text)} is ${cleaned}`, () => assert.equal(typedPhone(text), cleaned));
  }

  it('takes no digit from a number without a word for an extension', () => {
    const number = fc.string({ unit: fc.constantFrom(...'0123456789 .-()+'), maxLength: 20 });
    const digitsOf = (text: string) => text.replace(/\D/g, '');
    fc.assert(fc.property(number, (text) => assert.equal(digitsOf(typedPhone(text)), digitsOf(text))));
  });
});
