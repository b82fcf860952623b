import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
} from 'libphonenumber-js/max';
import { foldPhone } from '../../../src/applications/rules/fold-phone.ts';
import { normalisePhone, readByLibrary, toPhone } from '../../../src/applications/rules/phone.ts';
import { type Country, isCountry } from '../../../src/base/country-data.ts';

type Case = readonly [text: string, partner: Country, expected: string | null];

function check(cases: readonly Case[]): void {
  for (const [text, partner, expected] of cases) {
    assert.equal(normalisePhone(text, partner), expected, `${JSON.stringify(text)} for ${partner}`);
  }
}

const digit = fc.integer({ min: 0, max: 9 }).map(String);
const digits = (min: number, max: number) => fc.string({ unit: digit, minLength: min, maxLength: max });
const countries = getCountries().filter((code): code is CountryCode & Country => isCountry(code));
const country = fc.constantFrom(...countries);
const e164 = fc
  .tuple(fc.constantFrom('1', '521', '549', '55', '57', '7', '599', '9', '33'), digits(6, 12))
  .map(([code, rest]) => `+${code}${rest}`)
  .filter((phone) => phone.length >= 8 && phone.length <= 16);

/** The rule of D11 without short cuts: the number by the library where it is valid, else `+digits`. */
function slowly(text: string, partner: CountryCode): string | null {
  const international = text.startsWith('0') ? null : `+${text}`;
  return readByLibrary(text, partner, getCountryCallingCode(partner)) ?? international;
}

/**
 * Digit strings that resemble a number of the country: its example number, altered, after a possible prefix.
 */
const nearby = country.chain((partner) => {
  const code = getCountryCallingCode(partner);
  const example = getExampleNumber(partner, examples)?.nationalNumber ?? '5550100';
  const altered = fc
    .array(fc.tuple(fc.nat({ max: example.length - 1 }), digit), { maxLength: 4 })
    .map((changes) => {
      const text = [...example];
      for (const [at, to] of changes) text[at] = to;
      return text.join('');
    });
  const fronts = ['', '', '0', '1', '8', '9', '15', '90', '011', '810', code, code, `${code}0`, `${code}1`];
  return fc.record({
    partner: fc.constant(partner),
    text: fc
      .tuple(fc.constantFrom(...fronts, `0${code}`, code + code), fc.oneof(altered, digits(5, 13)))
      .map(([front, body]) => front + body)
      .filter((text) => text.length >= 7 && text.length <= 15 && !text.startsWith('00')),
  });
});

describe('normalisePhone', () => {
  it('D11: all forms of one number give one phone', () => {
    const forms = ['+57 300 123-4567', '0057 3001234567', '573001234567', '3001234567', '+573001234567'];
    const more = [
      '(+57) 300 123 4567',
      '300.123.4567',
      '(300) 123-4567',
      '+57\u00a0300\u00a01234567',
      '57 300 123 4567',
    ];
    check(
      [...forms, ...more, '00-57-3001234567', '0 0 57 300 1234567', '- +573001234567'].map(
        (text): Case => [text, 'CO', '+573001234567'],
      ),
    );
  });

  it('D11: without + or 00 a valid number of the partner’s own country is read as national', () => {
    check([
      ['55 1234 5678', 'MX', '+525512345678'],
      ['987654321', 'PE', '+51987654321'],
      ['9 8765 4321', 'CL', '+56987654321'],
      ['(11) 98765-4321', 'BR', '+5511987654321'],
      ['55 98765-4321', 'BR', '+5555987654321'],
      ['011 15 2345-6789', 'AR', '+5491123456789'],
      ['099 123 4567', 'EC', '+593991234567'],
      ['809 234 5678', 'DO', '+18092345678'],
      ['1 809 234 5678', 'DO', '+18092345678'],
    ]);
  });

  it('D11: without + or 00 any other number is read as international', () => {
    check([
      ['525512345678', 'CO', '+525512345678'],
      ['573001234567', 'MX', '+573001234567'],
      ['5511987654321', 'BR', '+5511987654321'],
      ['5491123456789', 'AR', '+5491123456789'],
      ['3001234567', 'PE', '+3001234567'],
      // The library does not know this country, so no number is national there.
      ['3001234567', 'AQ', '+3001234567'],
    ]);
  });

  it('D11: countries that share a calling code count as one', () => {
    check([
      ['212 555 2368', 'DO', '+12125552368'],
      ['416 555 2368', 'US', '+14165552368'],
    ]);
  });

  it('D11: with + or 00 a number stays as it is, and its country code is not checked', () => {
    check([
      ['+990 000 0001', 'CO', '+9900000001'],
      ['+999 1234567', 'CO', '+9991234567'],
      ['00990 000 0001', 'CO', '+9900000001'],
      ['+3001234567', 'CO', '+3001234567'],
      ['+521 55 1234 5678', 'MX', '+5215512345678'],
    ]);
  });

  it('D11: 7 to 15 digits must remain', () => {
    check([
      ['+1234567', 'CO', '+1234567'],
      ['+123456', 'CO', null],
      ['123456', 'CO', null],
      ['00123456', 'CO', null],
      ['+123456789012345', 'CO', '+123456789012345'],
      ['00123456789012345', 'CO', '+123456789012345'],
      ['+1234567890123456', 'CO', null],
      ['1234567890123456', 'CO', null],
      ['+', 'CO', null],
      ['()-. ', 'CO', null],
      // Germany has valid national numbers of 15 digits. With 49 in front they are too long for E.164.
      ['259999999999999', 'DE', '+259999999999999'],
    ]);
  });

  it('D11: an international number that begins with 0 is refused', () => {
    check([
      ['+0571234567', 'CO', null],
      ['+00573001234567', 'CO', null],
      ['0000573001234567', 'CO', null],
      ['0571234567890', 'CO', null],
      ['0445512345678', 'MX', null],
    ]);
  });

  it('D11: a + anywhere but before the first digit, or twice, is refused', () => {
    for (const text of [
      '57+3001234567',
      '573001234567+',
      '++573001234567',
      '+57+3001234567',
      '+(+57)3001234567',
    ]) {
      assert.equal(normalisePhone(text, 'CO'), null, text);
    }
  });

  it('D11: any other character is refused', () => {
    for (const noise of [
      'x',
      '/',
      '#',
      '*',
      ',',
      '_',
      '\u2013',
      '\u2003',
      '\uff0b',
      '٣',
      '３',
      '😀',
      "'",
      ';ext=1',
    ]) {
      assert.equal(normalisePhone(`+57300${noise}1234567`, 'CO'), null, noise);
      assert.equal(normalisePhone(`${noise}3001234567`, 'CO'), null, noise);
      assert.equal(normalisePhone(`3001234567${noise}`, 'CO'), null, noise);
    }
  });

  it('D11: the short cuts give the result of the library, in every country', () => {
    fc.assert(
      fc.property(nearby, ({ text, partner }) => {
        assert.equal(normalisePhone(text, partner), slowly(text, partner));
      }),
      { numRuns: 10_000 },
    );
  });

  it('D11: every country’s example number is read in its national and its international form', () => {
    for (const partner of countries) {
      const example = getExampleNumber(partner, examples);
      if (example === undefined || example.nationalNumber.length < 7) continue;
      assert.equal(normalisePhone(example.formatNational(), partner), example.number, partner);
      assert.equal(normalisePhone(example.formatInternational(), partner), example.number, partner);
    }
  });

  it('D11: E.164 normalises to itself for every partner', () => {
    fc.assert(
      fc.property(nearby, country, ({ text, partner }, other) => {
        const phone = normalisePhone(text, partner);
        if (phone === null) return;
        assert.match(phone, /^\+[1-9]\d{6,14}$/);
        assert.equal(normalisePhone(phone, other), phone);
      }),
      { numRuns: 3000 },
    );
  });

  it('D11: punctuation does not change the phone', () => {
    const noise = fc.string({ unit: fc.constantFrom(' ', '.', '-', '(', ')', '\u00a0'), maxLength: 2 });
    const fronts = fc.constantFrom('', '+', '00');
    fc.assert(
      fc.property(
        nearby,
        fronts,
        fc.array(noise, { minLength: 20, maxLength: 20 }),
        ({ text, partner }, front, gaps) => {
          const plain = front + text;
          const noisy =
            [...plain].map((character, i) => gaps[i % gaps.length] + character).join('') + gaps[0];
          assert.equal(normalisePhone(noisy, partner), normalisePhone(plain, partner));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('D11: any text gives E.164 or null', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 32 }),
      fc.string({ unit: fc.constantFrom(...'+0123456789 .-()'), maxLength: 32 }),
    );
    fc.assert(
      fc.property(text, country, (value, partner) => {
        assert.match(normalisePhone(value, partner) ?? '+1234567', /^\+[1-9]\d{6,14}$/);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('foldPhone', () => {
  const pairs = [
    ['+5215512345678', '+525512345678'],
    ['+5491123456789', '+541123456789'],
    ['+551187654321', '+5511987654321'],
    ['+551167654321', '+5511967654321'],
  ] as const;

  it('D11: the double forms of one line fold to one form', () => {
    for (const [one, other] of pairs) assert.equal(foldPhone(toPhone(one)), foldPhone(toPhone(other)), one);
  });

  it('D11: folding removes the 1 of Mexico and the 9 of Argentina, and adds the 9 of Brazil', () => {
    for (const [from, to] of pairs) assert.equal(foldPhone(toPhone(from)), to);
  });

  it('D11: other numbers stay as they are', () => {
    for (const phone of [
      '+573001234567',
      '+525512345678',
      '+52155123456',
      '+521551234567890',
      '+541123456789',
      '+549112345678',
      '+551123456789',
      '+551157654321',
      '+5511987654321',
      '+558001234567',
      '+55118765432',
      '+15215512345678',
      '+1234567',
    ]) {
      assert.equal(foldPhone(toPhone(phone)), phone);
    }
  });

  it('D11: a second folding changes nothing, and only the three countries fold', () => {
    fc.assert(
      fc.property(e164, (phone) => {
        const folded = foldPhone(toPhone(phone));
        assert.equal(foldPhone(toPhone(folded)), folded);
        assert.equal(normalisePhone(folded, 'CO'), folded);
        if (folded !== phone) assert.match(phone, /^\+(521\d{10}|549\d{10}|55\d{2}[6-9]\d{7})$/);
      }),
      { numRuns: 5000 },
    );
  });
});
