import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import parsePhoneNumber from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { currencyOfPhone, isCurrency, normaliseCurrency } from '../../../src/domain/money/currency.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import {
  AREA_CODES,
  CALLING_CODE_CURRENCY,
  COUNTRY_CURRENCY,
  type Country,
  CURRENCIES,
  isCountry,
  RATES_AS_OF,
} from '../../../src/ground/base/country-data.ts';

const countries = Object.keys(COUNTRY_CURRENCY) as Country[];

describe('the tables', () => {
  it('D29: every currency has a positive finite rate, set on a given day', () => {
    for (const [code, rate] of Object.entries(CURRENCIES)) {
      assert.match(code, /^[A-Z]{3}$/);
      assert.ok(Number.isFinite(rate) && rate > 0, code);
    }
    assert.equal(new Date(RATES_AS_OF).toISOString().slice(0, 10), RATES_AS_OF);
  });

  it('D29: the rates of D29 are exact', () => {
    const { COP, MXN, PEN, ARS, CLP, BRL, EUR, USD } = CURRENCIES;
    assert.deepEqual([COP, MXN, PEN, ARS, CLP, BRL, EUR, USD], [4000, 18, 3.75, 1000, 950, 5.5, 0.9, 1]);
  });

  it('D12: funds, metals, test codes and withdrawn currencies are not active', () => {
    const funds = 'BOV CHE CHW CLF COU MXV USN UYI UYW XAD XDR XSU XUA'.split(' ');
    const others = 'XAG XAU XPD XPT XBA XBB XBC XBD XTS XXX'.split(' ');
    const withdrawn = 'ANG BGN CUC HRK LTL MRO SLL STD VEF ZWL'.split(' ');
    for (const code of [...funds, ...others, ...withdrawn]) assert.equal(isCurrency(code), false, code);
    for (const code of ['XCG', 'ZWG', 'SLE', 'VES', 'VED', 'STN', 'MRU', 'PAB'])
      assert.ok(isCurrency(code), code);
  });

  it('D12: a name that every object has is neither a currency nor a country', () => {
    for (const name of ['constructor', '__proto__', 'toString', '', 'cop', 'co']) {
      assert.equal(isCurrency(name), false, name);
      assert.equal(isCountry(name), false, name);
    }
  });

  it('D12: every ISO 3166-1 country has an active currency', () => {
    assert.equal(countries.length, 249);
    for (const country of countries) {
      assert.match(country, /^[A-Z]{2}$/);
      assert.ok(isCurrency(COUNTRY_CURRENCY[country]), country);
    }
  });

  it('D12: every calling code of libphonenumber is in the tables', () => {
    for (const code of Object.keys(metadata.country_calling_codes)) {
      assert.notEqual(currencyOfPhone(`+${code}5550100000`), null, code);
    }
  });

  it('D12: a calling code of one country gives that country’s currency', () => {
    for (const [code, [country, ...others]] of Object.entries(metadata.country_calling_codes)) {
      if (others.length > 0 || country === undefined || !isCountry(country)) continue;
      assert.equal(currencyOfPhone(`+${code}5550100000`), COUNTRY_CURRENCY[country], code);
    }
  });

  it('D12: an area code of one country in libphonenumber gives that country’s currency', () => {
    for (let areaCode = 200; areaCode <= 999; areaCode++) {
      const phone = parsePhoneNumber(`+1${areaCode}2345678`);
      if (!phone?.isValid() || !phone.country || !isCountry(phone.country)) continue;
      assert.equal(currencyOfPhone(phone.number), COUNTRY_CURRENCY[phone.country], phone.number);
    }
  });

  it('D12: codes do not overlap and are listed once', () => {
    const codes = Object.keys(CALLING_CODE_CURRENCY);
    for (const code of codes) {
      assert.match(code, /^[2-9]\d{1,2}$/);
      assert.ok(code.length === 2 || !codes.includes(code.slice(0, 2)), code);
    }
    const areaCodes = AREA_CODES.flatMap(([, list]) => list.split(' '));
    assert.equal(new Set(areaCodes).size, areaCodes.length);
    for (const areaCode of areaCodes) assert.match(areaCode, /^[2-9]\d\d$/);
  });
});

describe('currencyOfPhone', () => {
  // biome-ignore format: table
  const cases: Record<string, string | null> = {
    '+573001234567': 'COP', '+525512345678': 'MXN', '+51987654321': 'PEN', '+56987654321': 'CLP',
    '+5491123456789': 'ARS', '+5511987654321': 'BRL', '+593991234567': 'USD', '+50377778888': 'USD',
    '+50761234567': 'PAB', '+34612345678': 'EUR', '+447400123456': 'GBP', '+35988123456': 'EUR',
    '+12125550100': 'USD', '+14165550100': 'CAD', '+12425550100': 'BSD', '+12465550100': 'BBD',
    '+12645550100': 'XCD', '+12685550100': 'XCD', '+12845550100': 'USD', '+13405550100': 'USD',
    '+13455550100': 'KYD', '+14415550100': 'BMD', '+14735550100': 'XCD', '+16495550100': 'USD',
    '+16585550100': 'JMD', '+18765550100': 'JMD', '+16645550100': 'XCD', '+16715550100': 'USD',
    '+17215550100': 'XCG', '+17585550100': 'XCD', '+17675550100': 'XCD', '+17845550100': 'XCD',
    '+17875550100': 'USD', '+18095550100': 'DOP', '+18295550100': 'DOP', '+18495550100': 'DOP',
    '+18685550100': 'TTD', '+18695550100': 'XCD', '+19995550100': 'USD', '+10005550100': 'USD',
    '+77011234567': 'KZT', '+76001234567': 'KZT', '+79161234567': 'RUB', '+70001234567': 'RUB',
    '+59995181234': 'XCG', '+5997181234': 'USD', '+5993181234': 'USD', '+2471234567': 'SHP',
    '+38343201234': 'EUR', '+672381234': 'AUD', '+2901234567': 'SHP',
    '+80012345678': null, '+870773111632': null, '+9900000001': null, '+9991234567': null, '+2101234567': null,
  };
  for (const [phone, expected] of Object.entries(cases)) {
    it(`D12: ${phone} gives ${expected}`, () => assert.equal(currencyOfPhone(phone), expected));
  }

  it('D12: any E.164 number gives an active currency or null', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1_000_000n, max: 999_999_999_999_999n }), (number) => {
        const currency = currencyOfPhone(`+${number}`);
        assert.ok(currency === null || isCurrency(currency));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('normaliseCurrency', () => {
  it('D12: a valid code wins with any phone, trimmed and in any capitalisation', () => {
    for (const value of ['COP', 'cop', ' Cop ', '\tcOP\n']) {
      assert.equal(normaliseCurrency(value, toPhone('+525512345678'), 'PE'), 'COP');
    }
  });

  const invalid = [
    undefined,
    null,
    '',
    '  ',
    'XAU',
    'COU',
    'BGN',
    'ZZZ',
    'PESO',
    'US$',
    'u sd',
    'u\u017fd',
    170,
    true,
    ['COP'],
    {},
  ];

  it('D12: an absent or invalid value gives the currency of the phone’s country', () => {
    for (const value of invalid)
      assert.equal(normaliseCurrency(value, toPhone('+525512345678'), 'PE'), 'MXN', String(value));
  });

  it('D12: without a phone of a known country, the partner’s country gives the currency', () => {
    for (const value of invalid) {
      assert.equal(normaliseCurrency(value, null, 'PE'), 'PEN');
      assert.equal(normaliseCurrency(value, toPhone('+9900000001'), 'PE'), 'PEN');
      assert.equal(normaliseCurrency(value, toPhone('+80012345678'), 'PE'), 'PEN');
    }
  });

  it('D12: any JSON value gives an active currency, never an error', () => {
    const phone = fc.option(
      fc.bigInt({ min: 1_000_000n, max: 999_999_999_999_999n }).map((n) => toPhone(`+${n}`)),
    );
    fc.assert(
      fc.property(fc.jsonValue(), phone, fc.constantFrom(...countries), (value, number, country) => {
        assert.ok(isCurrency(normaliseCurrency(value, number, country)));
      }),
      { numRuns: 3000 },
    );
  });

  it('D12: every active code is read in any capitalisation', () => {
    for (const code of Object.keys(CURRENCIES)) {
      assert.equal(normaliseCurrency(code, null, 'CO'), code);
      assert.equal(normaliseCurrency(` ${code.toLowerCase()} `, null, 'CO'), code);
    }
  });
});
