import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  default as parsePhoneNumber,
} from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { namedCurrency } from '../../../src/domain/money/currency.ts';
import { foldPhone, knownPhone, normalisePhone, toPhone } from '../../../src/domain/phone/phone.ts';
import { COUNTRY_CURRENCY, type Country, isCountry } from '../../../src/ground/base/country-data.ts';

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

/** The library's answer for a number with its country code; null where it knows no such code, or no number. */
function byLibrary(e164: string) {
  return parsePhoneNumber(e164, { extract: false }) ?? null;
}

/** The library's answer where the digits are a valid number as dialled in the country. */
function dialled(digits: string, country: CountryCode): string | null {
  const parsed = parsePhoneNumber(digits, { defaultCountry: country, extract: false });
  const isOwn = parsed?.countryCallingCode === getCountryCallingCode(country) && parsed.isValid();
  return isOwn ? parsed.number : null;
}

const E164 = /^\+[1-9]\d{6,14}$/;
const isValid = (e164: string) =>
  byLibrary(e164)?.isValid() || byLibrary(foldPhone(e164))?.isValid() || isValidAfterTrunk(e164);

/** The library takes the 8 of Belarus' +375 810 123 4567 for a trunk digit, and knows the number after one more. */
function isValidAfterTrunk(e164: string): boolean {
  const parsed = byLibrary(e164.replace('+375', '+3758'));
  return parsed?.number === e164 && parsed.isValid();
}

const isLargest = (country: CountryCode) =>
  metadata.country_calling_codes[getCountryCallingCode(country)]?.[0] === country;

/** What the library reads, where E.164 has room for it. */
const fitting = (e164: string | null | undefined) => (e164 && E164.test(e164) ? e164 : null);

interface Spelling {
  readonly line: string;
  readonly partner: CountryCode & Country;
  readonly currency: string;
  readonly text: string;
  readonly expected: string | null;
  readonly isLibrarys: boolean;
}

function readSpellings(): Spelling[] {
  const [, librarys = '', others = ''] = readFileSync(
    new URL('phone-spellings.txt', import.meta.url),
    'utf8',
  ).split(/^# (?:As|Where) .*$/m);
  const spelling = (line: string, isLibrarys: boolean): Spelling => {
    const [partner, currency, text, expected] = line.split(' | ') as [
      CountryCode & Country,
      string,
      string,
      string,
    ];
    const written = text.replace(/\\u([0-9a-f]{4})/g, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    return {
      ...{ line, partner, currency, isLibrarys },
      text: written,
      expected: expected === 'refused' ? null : expected,
    };
  };
  const linesOf = (text: string, isLibrarys: boolean) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => spelling(line, isLibrarys));
  return [...linesOf(librarys, true), ...linesOf(others, false)];
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

  it('D11: without + or 00 any other number is read as international where it is a valid one, else refused', () => {
    check([
      ['525512345678', 'CO', '+525512345678'],
      ['573001234567', 'MX', '+573001234567'],
      ['5511987654321', 'BR', '+5511987654321'],
      ['5491123456789', 'AR', '+5491123456789'],
      // Greece has no such number.
      ['3001234567', 'PE', null],
      ['57300123456', 'MX', null],
      // The library does not know this country, so no number is national there.
      ['573001234567', 'AQ', '+573001234567'],
      ['3001234567', 'AQ', null],
    ]);
  });

  it('D11: each spelling of the list gives its phone, and libphonenumber reads those with a country code alike', () => {
    const spellings = readSpellings();
    assert.ok(spellings.length > 500, `${spellings.length} spellings`);
    assert.equal(new Set(spellings.map(({ line }) => line)).size, spellings.length);
    for (const { line, partner, currency, text, expected, isLibrarys } of spellings) {
      assert.equal(
        normalisePhone(text, partner, () => namedCurrency(currency)),
        expected,
        line,
      );
      if (!isLibrarys) continue;
      const digits = text.replace(/[\s.()-]/g, '');
      const international = /^(?:\+|00)/.test(digits);
      const own = international ? null : dialled(digits, partner);
      const read = byLibrary(international ? digits.replace(/^00/, '+') : `+${digits}`);
      const possible = international ? read?.isPossible() : read?.isValid();
      assert.equal(own ?? (possible ? read?.number : null), expected, `libphonenumber: ${line}`);
    }
  });

  it('D11: countries that share a calling code count as one', () => {
    check([
      ['212 555 2368', 'DO', '+12125552368'],
      ['416 555 2368', 'US', '+14165552368'],
    ]);
  });

  it('D11: under a country code that nobody has any 7 to 15 digits stand', () => {
    check([
      ['+990 000 0001', 'CO', '+9900000001'],
      ['+999 1234', 'CO', '+9991234'],
      ['00990 000 0001', 'CO', '+9900000001'],
      ['+999 123456789012', 'CO', '+999123456789012'],
      ['9991234567', 'CO', null],
    ]);
  });

  it('D11: 7 to 15 digits must remain, and as many as the country has', () => {
    check([
      ['+999123', 'CO', null],
      ['123456', 'CO', null],
      ['00999123', 'CO', null],
      ['+9991234567890123', 'CO', null],
      ['9991234567890123', 'CO', null],
      ['+', 'CO', null],
      ['()-. ', 'CO', null],
      ['+57 300 123 456', 'CO', null],
      ['+57 300 123 45678', 'CO', '+5730012345678'],
      ['+57 300 123 456789', 'CO', null],
      ['+1 234 5678', 'CO', null],
      // Germany has valid national numbers of 15 digits. With 49 in front they are too long for E.164.
      ['259999999999999', 'DE', null],
    ]);
  });

  it('D11: where a named currency is that of another country, and the digits are a number there too, they are refused', () => {
    const read = (text: string, partner: Country, currency: string) =>
      normalisePhone(text, partner, () => namedCurrency(currency));
    assert.equal(read('319 (555) 0019', 'MX', 'COP'), null);
    assert.equal(read('319 (555) 0019', 'MX', 'MXN'), '+523195550019');
    assert.equal(read('319 (555) 0019', 'MX', 'no currency'), '+523195550019');
    assert.equal(read('+52 319 555 0019', 'MX', 'COP'), '+523195550019');
    // A currency of several countries stands for each of them: this could be a phone of El Salvador.
    assert.equal(read('6123 4567', 'PA', 'USD'), null);
    assert.equal(read('6123 4567', 'PA', 'PAB'), '+50761234567');
    // Both countries read the same phone.
    assert.equal(read('809 234 5678', 'DO', 'USD'), '+18092345678');
  });

  it('D11: a local number with a foreign currency is never the phone of one of two countries', () => {
    const currencies = fc.constantFrom(...new Set(Object.values(COUNTRY_CURRENCY)));
    fc.assert(
      fc.property(nearby, currencies, ({ text, partner }, currency) => {
        const own = normalisePhone(text, partner);
        const read = normalisePhone(text, partner, () => currency);
        if (own === null || COUNTRY_CURRENCY[partner] === currency) return assert.equal(read, own);
        assert.ok(read === own || read === null);
        if (read === null || dialled(text, partner) === null || own === byLibrary(`+${text}`)?.number) return;
        for (const other of countries) {
          const there = COUNTRY_CURRENCY[other] === currency ? fitting(dialled(text, other)) : null;
          assert.ok(
            there === null || there === read || there === `+${text}`,
            `${text} is ${read} and ${there}`,
          );
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('D11: an international number that begins with 0 is refused', () => {
    check([
      ['+0571234567', 'CO', null],
      ['+00573001234567', 'CO', null],
      ['0000573001234567', 'CO', null],
      ['0571234567890', 'CO', null],
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

  const CODES = Object.keys(metadata.country_calling_codes);
  const withCode = fc
    .oneof(
      fc.tuple(
        fc.constantFrom(...CODES, ...Object.keys(metadata.nonGeographic), '990', '999', '210'),
        digits(4, 13),
      ),
      nearby.map(({ text, partner }) => [getCountryCallingCode(partner) as string, text] as const),
    )
    .map(([code, text]) => `+${code}${text}`)
    .filter((text) => E164.test(text));

  it('D11: with a country code the plans read as the library does, in every country', () => {
    fc.assert(
      fc.property(withCode, (text) => {
        const read = normalisePhone(text, 'CO');
        const parsed = byLibrary(text);
        const isAssigned = CODES.some((code) => text.startsWith(`+${code}`)) || parsed !== null;
        if (!isAssigned) return assert.equal(read, text, 'a code that nobody has');
        if (parsed?.isValid()) return assert.equal(read, fitting(parsed.number));
        // Mexico's old prefixes, which the library has forgotten: the list of spellings has them.
        if (text.startsWith('+520')) return;
        // Zeros of nobody, of which the library would take away another one the next time.
        if (read === null && parsed && byLibrary(parsed.number)?.number !== parsed.number) return;
        // Where the library finds no valid number, D11 may find one: the list of spellings has each kind.
        if (read !== null && isValid(read) && read !== parsed?.number) return;
        if (read !== null && foldPhone(read) !== read && byLibrary(foldPhone(read))?.isPossible()) return;
        assert.equal(read, parsed?.isPossible() ? fitting(parsed.number) : null);
      }),
      { numRuns: 20_000 },
    );
  });

  it('D11: without a country code the plans read as the library does, in every country', () => {
    fc.assert(
      fc.property(nearby, ({ text, partner }) => {
        const read = normalisePhone(text, partner);
        const own = fitting(dialled(text, partner));
        // The library removes what the country dials before an international number, too. D11 knows 00 alone.
        const isDialledOut = new RegExp(`^(?:${metadata.countries[partner]?.[1]})`).test(text);
        // Åland and its like: the library takes a code of the larger country for that of an international number.
        const isShared = text.startsWith(getCountryCallingCode(partner)) && !isLargest(partner);
        if (own !== null && !isDialledOut && !isShared) return assert.equal(read, own);
        if (read !== null) return assert.ok(isValid(read), `${read} is valid`);
        const parsed = text.startsWith('0') ? null : byLibrary(`+${text}`);
        assert.ok(!parsed?.isValid() || fitting(parsed.number) === null, `${text} is ${parsed?.number}`);
      }),
      { numRuns: 20_000 },
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

describe('knownPhone', () => {
  it('D11: a phone of the store is read by the plan; one that no plan reads stays, and other texts are none', () => {
    assert.equal(knownPhone('+5930987654321'), '+593987654321');
    assert.equal(knownPhone('+12345678'), '+12345678');
    assert.equal(knownPhone('+5215512345678'), '+5215512345678');
    for (const text of ['', '+', '593987654321', '+057300', '+57 300 123 4567', 'x'])
      assert.equal(knownPhone(text), null, text);
    fc.assert(
      fc.property(e164, (phone) => {
        const known = knownPhone(phone) ?? '';
        assert.match(known, E164);
        assert.equal(knownPhone(known), known);
        assert.equal(knownPhone(phone), normalisePhone(phone, 'CO') ?? phone);
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
        if (folded !== phone) assert.match(phone, /^\+(521\d{10}|549\d{10}|55\d{2}[6-9]\d{7})$/);
      }),
      { numRuns: 5000 },
    );
  });
});
