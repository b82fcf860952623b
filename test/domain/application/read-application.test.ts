import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FieldName, namedFields } from '../../../src/domain/application/fields.ts';
import {
  type Fault,
  type Problem,
  type Reading,
  readApplication,
} from '../../../src/domain/application/read-application.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import { GIG_APPLICANT } from '../../support/applicant.ts';

/** The contract's table "Application input", word for word: names in the order of precedence (D5). */
const NAMES: Readonly<Record<FieldName, readonly string[]>> = {
  name: ['name', 'nombre'],
  id_number: ['id_number', 'cedula'],
  city: ['city', 'ciudad'],
  phone: ['phone', 'telefono'],
  platform: ['platform', 'plataforma'],
  currency: ['currency', 'moneda'],
  income: ['income', 'ingreso', 'ingreso_cop'],
  debt_amount: ['debt_amount', 'monto_deuda', 'monto_deuda_cop'],
  num_debts: ['num_debts', 'num_deudas'],
  debt_age: ['debt_age', 'antiguedad_mora'],
  prior_history: ['prior_history', 'historial_previo'],
  messaging_optin: ['messaging_optin', 'optin_messaging'],
  consent_at: ['consent_at', 'consentimiento_fecha'],
  consent_text: ['consent_text', 'consentimiento_texto'],
  consent_channel: ['consent_channel', 'consentimiento_canal'],
};
const ORDER = Object.keys(NAMES) as FieldName[];
const ALL_NAMES = Object.values(NAMES).flat();

const NORMAL = {
  ...GIG_APPLICANT,
  phone: '+573001234567',
  consent_at: '2026-11-20T14:05:00-05:00',
  consent_text: 'Acepto',
  consent_channel: 'app',
};

/** A second normal form, different in every field. */
const OTHER = {
  name: 'Luz Paz',
  id_number: '77',
  city: 'Lima',
  phone: '+51987654321',
  platform: 'uber',
  currency: 'PEN',
  income: 4_000,
  debt_amount: 9_000,
  num_debts: '3',
  debt_age: 'gt2',
  prior_history: 'no',
  messaging_optin: false,
  consent_at: '2026-11-21',
  consent_text: 'I agree',
  consent_channel: 'web',
};

const EMOJI = '\u{1F600}';
/** Values that are neither null nor of a type that a text field takes. */
const NOT_TEXT = [0, 5, -1.5, true, false, [], ['x'], {}, { a: 1 }];
const CONTROLS = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, n) => 0x7f + n),
].map((code) => `a${String.fromCharCode(code)}b`);
const LONE_SURROGATES = ['a\ud800', '\udc00b', 'a\ud83db', '\ude00\ud83d', '\ud83d\ud83d\ude00'];
const BLANKS = ['', ' ', ' \t\r\n ', '\u00a0', '\u3000\ufeff'];

function read(element: unknown, channel = 'messaging', country: Country = 'CO'): Reading {
  return readApplication(element, namedFields(channel), country);
}

/** The normal form with one field under another name; undefined leaves the field out. */
function withField(field: FieldName, name: string, value: unknown): Record<string, unknown> {
  const { [field]: _, ...rest } = NORMAL;
  return value === undefined ? rest : { ...rest, [name]: value };
}

function becomes(field: FieldName, value: unknown, expected: unknown, changes: object = {}): void {
  for (const name of NAMES[field]) {
    const reading = read({ ...withField(field, name, value), ...changes });
    assert.deepEqual(
      reading,
      { kind: 'valid', application: { ...NORMAL, ...changes, [field]: expected } },
      `${name}: ${JSON.stringify(value)}`,
    );
  }
}

function refused(field: FieldName, value: unknown, problem: Problem): void {
  for (const name of NAMES[field]) {
    const reading = read(withField(field, name, value));
    const named = value === null || value === undefined ? null : name;
    const what = `${name}: ${JSON.stringify(value)}`;
    assert.equal(reading.kind, 'invalid', what);
    assert.deepEqual(
      (reading as Reading & { kind: 'invalid' }).faults,
      [{ field, name: named, problem }],
      what,
    );
  }
}

const faultsOf = (reading: Reading): readonly Fault[] => (reading.kind === 'invalid' ? reading.faults : []);

describe('the fields and their names', () => {
  it('contract "Application input", D6: every field has exactly the contract’s names, in the contract’s order', () => {
    assert.deepEqual(
      namedFields('messaging').map(({ name, names }) => [name, names]),
      Object.entries(NAMES),
    );
  });

  it('contract, D5: a normal form stays the same under every name of every field', () => {
    for (const field of ORDER) becomes(field, NORMAL[field], NORMAL[field]);
  });

  it('D5: the English name wins, then the aliases in the contract’s order; null counts as absent', () => {
    for (const field of ORDER) {
      const names = NAMES[field];
      for (const [earlier, first] of names.entries()) {
        for (const later of names.slice(earlier + 1)) {
          const both = { ...withField(field, first, OTHER[field]), [later]: NORMAL[field] };
          const swapped = Object.fromEntries(Object.entries(both).reverse());
          for (const element of [both, swapped]) {
            assert.deepEqual(
              read(element),
              { kind: 'valid', application: { ...NORMAL, [field]: OTHER[field] } },
              `${first} before ${later}`,
            );
          }
          const nulled = { ...withField(field, first, null), [later]: OTHER[field] };
          assert.deepEqual(read(nulled), {
            kind: 'valid',
            application: { ...NORMAL, [field]: OTHER[field] },
          });
        }
      }
    }
  });

  it('D5: a good value under a later name does not replace a bad value under the first name', () => {
    for (const field of ORDER) {
      if (field === 'currency') continue;
      const [first, ...later] = NAMES[field] as [string, ...string[]];
      for (const name of later) {
        const faults = faultsOf(read({ ...withField(field, first, []), [name]: NORMAL[field] }));
        assert.deepEqual(
          faults.map((fault) => [fault.field, fault.name]),
          [[field, first]],
        );
      }
    }
  });

  it('D6: with CHANNEL_NAME=acme two more names are read, after the fixed ones', () => {
    const names = ['messaging_optin', 'optin_messaging', 'acme_optin', 'optin_acme'];
    const { messaging_optin: _, ...rest } = NORMAL;
    for (const [earlier, first] of names.entries()) {
      assert.deepEqual(read({ ...rest, [first]: false }, 'acme'), {
        kind: 'valid',
        application: { ...NORMAL, messaging_optin: false },
      });
      for (const later of names.slice(earlier + 1)) {
        const reading = read({ ...rest, [later]: true, [first]: false }, 'acme');
        assert.deepEqual(reading, { kind: 'valid', application: { ...NORMAL, messaging_optin: false } });
      }
      assert.deepEqual(faultsOf(read({ ...rest, [first]: 'yes' }, 'acme')), [
        { field: 'messaging_optin', name: first, problem: 'consent' },
      ]);
    }
    for (const name of ['acme_optin', 'optin_acme', 'optin', 'Messaging_optin']) {
      assert.deepEqual(
        faultsOf(read({ ...rest, [name]: true })),
        [{ field: 'messaging_optin', name: null, problem: 'consent' }],
        name,
      );
    }
  });

  it('D5: names must match exactly; unknown fields and names that every object has are ignored', () => {
    for (const name of [
      'Name',
      'NOMBRE',
      ' name',
      'name ',
      'fullName',
      'constructor',
      'toString',
      'hasOwnProperty',
    ]) {
      assert.deepEqual(read({ ...NORMAL, [name]: 'x' }), { kind: 'valid', application: NORMAL });
      assert.deepEqual(faultsOf(read(withField('name', name, 'x'))), [
        { field: 'name', name: null, problem: 'required' },
      ]);
    }
    const proto = JSON.parse(`{"__proto__": ${JSON.stringify(NORMAL)}}`);
    assert.deepEqual(read(proto), read({}));
    const beside = JSON.parse(`{"__proto__": {"phone": 7}, ${JSON.stringify(NORMAL).slice(1)}`);
    assert.deepEqual(read(beside), { kind: 'valid', application: NORMAL });
  });
});

describe('text fields', () => {
  const LIMITS = { name: 200, id_number: 64, city: 120 } as const;

  for (const field of ['name', 'id_number', 'city'] as const) {
    const max = LIMITS[field];
    it(`D7: ${field} is trimmed and at most ${max} code points`, () => {
      becomes(field, '  x y \t\r\n', 'x y');
      becomes(field, '\u00a0\u3000x\ufeff', 'x');
      becomes(field, 'a'.repeat(max), 'a'.repeat(max));
      becomes(field, EMOJI.repeat(max), EMOJI.repeat(max));
      becomes(field, `  ${EMOJI.repeat(max)}  `, EMOJI.repeat(max));
      becomes(field, 'e\u0301', 'e\u0301');
      for (const text of [
        'a'.repeat(max + 1),
        EMOJI.repeat(max + 1),
        `${EMOJI.repeat(max)}a`,
        'a'.repeat(1e5),
      ]) {
        refused(field, text, 'text');
      }
    });

    it(`D7, D14: an absent, null or blank ${field} has the problem required, another type the problem text`, () => {
      for (const value of [undefined, null, ...BLANKS]) refused(field, value, 'required');
      for (const value of NOT_TEXT) refused(field, value, 'text');
    });

    it(`D7: ${field} refuses control characters and lone surrogates, but takes unusual text`, () => {
      for (const text of [...CONTROLS, ...LONE_SURROGATES]) refused(field, text, 'text');
      for (const text of [
        'a\u200bb',
        'a\u202eb',
        '\ufffd',
        '\uffff',
        '<script>',
        "'; --",
        '\\u0000',
        '\u00ad-',
      ]) {
        becomes(field, text, text);
      }
    });
  }

  it('contract, D7: platform is lower-cased, has at most 64 code points, and is gig where absent, null or blank', () => {
    for (const value of [undefined, null, ...BLANKS]) becomes('platform', value, 'gig');
    becomes('platform', ' Rappi ', 'rappi');
    becomes('platform', 'ÑANDÚ', 'ñandú');
    becomes('platform', 'A'.repeat(64), 'a'.repeat(64));
    becomes('platform', EMOJI.repeat(64), EMOJI.repeat(64));
    for (const text of ['a'.repeat(65), EMOJI.repeat(65), ...CONTROLS, ...LONE_SURROGATES]) {
      refused('platform', text, 'text');
    }
    for (const value of NOT_TEXT) refused('platform', value, 'text');
    for (const name of ['__proto__', 'constructor']) becomes('platform', name, name);
  });

  it('contract "Normalisation": the limit holds for the lower-cased platform, because normalisation comes first', () => {
    // U+0130 is one code point, and its lower case has two.
    becomes('platform', '\u0130'.repeat(32), 'i\u0307'.repeat(32));
    refused('platform', '\u0130'.repeat(33), 'text');
  });
});

describe('phone and currency', () => {
  it('D11: an absent, null or blank phone is null', () => {
    for (const value of [undefined, null, ...BLANKS]) becomes('phone', value, null);
  });

  it('D11: all forms of one number become one E.164 form', () => {
    const forms = ['+57 300 123-4567', '0057 3001234567', '573001234567', '3001234567', ' (300) 123.4567\n'];
    for (const form of forms) becomes('phone', form, '+573001234567');
  });

  it('D7, D14: a phone of another type, over 32 characters or with forbidden characters has the problem text', () => {
    becomes('phone', `+57${' '.repeat(19)}3001234567`, '+573001234567');
    refused('phone', `+57${' '.repeat(20)}3001234567`, 'text');
    for (const value of [...NOT_TEXT, 573001234567, EMOJI.repeat(33)]) refused('phone', value, 'text');
    for (const text of [...CONTROLS, ...LONE_SURROGATES, '+57300123\u00004567'])
      refused('phone', text, 'text');
  });

  it('D11, D14: a phone has 7 to 15 digits, + only before the first digit, and never +0', () => {
    becomes('phone', '+9991234', '+9991234');
    becomes('phone', '+999123456789012', '+999123456789012');
    const bad = [
      '+999123',
      '+9991234567890123',
      '+',
      'x',
      '57+3001234567',
      '++573001234567',
      '+0573001234567',
    ];
    for (const text of [...bad, '300123456x', '3001234567 ext 1', EMOJI, '٣٠٠١٢٣٤٥٦٧', '+57/3001234567']) {
      refused('phone', text, 'phone');
    }
  });

  it('D11: a phone without country code is refused where the named currency is of another country that has it too', () => {
    const phone = '319 (555) 0019';
    for (const name of NAMES.currency) {
      for (const [value, currency] of [
        ['COP', null],
        [' cop ', null],
        ['MXN', 'MXN'],
        [undefined, 'MXN'],
        ['pesos', 'MXN'],
      ] as const) {
        const reading = read({ ...withField('currency', name, value), phone }, 'messaging', 'MX');
        if (currency === null) {
          assert.deepEqual(faultsOf(reading), [{ field: 'phone', name: 'phone', problem: 'phone' }]);
        } else {
          const application = { ...NORMAL, phone: '+523195550019', currency };
          assert.deepEqual(reading, { kind: 'valid', application });
        }
      }
    }
  });

  it('D12: a code of three letters in any capitalisation is the currency', () => {
    for (const [value, code] of [
      ['USD', 'USD'],
      ['usd', 'USD'],
      [' Mxn ', 'MXN'],
      ['bRl', 'BRL'],
    ]) {
      becomes('currency', value, code);
    }
  });

  it('D12: an absent or invalid currency becomes that of the phone’s country, else of the partner’s, never a fault', () => {
    const invalid = [
      undefined,
      null,
      '',
      'XXX',
      'XAU',
      'COU',
      'PESO',
      'co',
      '$',
      'C\u0000P',
      '\ud800',
      5,
      true,
      [],
      {},
    ];
    for (const value of [...invalid, '__proto__', 'constructor', 'x'.repeat(1e5)]) {
      becomes('currency', value, 'COP');
      becomes('currency', value, 'PEN', { phone: '+51987654321' });
      becomes('currency', value, 'USD', { phone: '+12025550123' });
      becomes('currency', value, 'KZT', { phone: '+77012345678' });
      for (const phone of [null, '+9991234567']) {
        const reading = read({ ...withField('currency', 'currency', value), phone }, 'messaging', 'MX');
        assert.deepEqual(reading, { kind: 'valid', application: { ...NORMAL, phone, currency: 'MXN' } });
      }
    }
  });

  it('D12: a refused phone causes no fault of the currency', () => {
    const faults = faultsOf(read({ ...withField('currency', 'currency', 'nope'), phone: 'x' }));
    assert.deepEqual(faults, [{ field: 'phone', name: 'phone', problem: 'phone' }]);
  });
});

describe('amounts', () => {
  const ACCEPTED: [unknown, number][] = [
    [1, 1],
    [0.01, 0.01],
    [5e-324, 5e-324],
    [Number.MAX_VALUE, Number.MAX_VALUE],
    ['1500000', 1_500_000],
    ['1500000.50', 1_500_000.5],
    ['1.5e6', 1_500_000],
    ['1.5E+6', 1_500_000],
    ['15e-1', 1.5],
    [' 42\n', 42],
    ['007', 7],
    ['0.5', 0.5],
    ['1e308', 1e308],
    ['5e-324', 5e-324],
  ];
  const REFUSED: unknown[] = [
    ...[0, -0, -1, -0.01, JSON.parse('1e400'), JSON.parse('-1e400'), JSON.parse('1e-400')],
    ...[undefined, null, true, false, [], [5], {}, { valueOf: 5 }],
    ...[
      '',
      ' ',
      '0',
      '0.0',
      '0e5',
      '-1',
      '+1',
      '.5',
      '5.',
      '1,5',
      '1,500,000',
      '1.500.000',
      '1 500',
      '1_000',
    ],
    ...[
      '$5',
      '5 COP',
      '0x10',
      '0b1',
      '0o7',
      'Infinity',
      '-Infinity',
      'NaN',
      '1e',
      'e5',
      '1e5.5',
      '1e400',
      '1e-400',
    ],
    ...['5n', '٥', '５', '1\u0000', '\ud800', '1'.repeat(400), 'null', '__proto__'],
  ];
  for (const field of ['income', 'debt_amount'] as const) {
    it(`contract, D8: ${field} is a number > 0 or a numeric string`, () => {
      for (const [value, amount] of ACCEPTED) becomes(field, value, amount);
    });
    it(`contract, D8: ${field} refuses any other value`, () => {
      for (const value of REFUSED) refused(field, value, 'amount');
    });
  }
});

describe('choices and consent', () => {
  const ODD = [
    true,
    false,
    [],
    ['1'],
    {},
    '',
    ' ',
    'null',
    'constructor',
    '__proto__',
    'toString',
    '\u0000',
    '\ud800',
  ];

  it('contract, D9: num_debts is 1, 2 or 3, as a string or an integer', () => {
    for (const text of ['1', '2', '3']) {
      becomes('num_debts', text, text);
      becomes('num_debts', ` ${text}\t`, text);
      becomes('num_debts', Number(text), text);
    }
    const bad = [0, 4, -1, 1.5, 1e300, '0', '4', '01', '1.0', '+1', '1 2', '1,2', '١', '１', 'uno', ...ODD];
    for (const value of [undefined, null, ...bad]) refused('num_debts', value, 'choice');
  });

  it('contract, D9: debt_age is one of four values, trimmed and in any capitalisation', () => {
    for (const text of ['lt6', '6a12', '1a2', 'gt2']) {
      for (const form of [text, text.toUpperCase(), ` ${text} `]) becomes('debt_age', form, text);
    }
    becomes('debt_age', 'Lt6', 'lt6');
    for (const value of [undefined, null, 6, 1, 'lt 6', '6-12', '<6', 'lt6 gt2', ...ODD]) {
      refused('debt_age', value, 'choice');
    }
  });

  it('contract, D9: prior_history takes yes/no and si/no under both names, never sí', () => {
    for (const form of ['yes', 'YES', ' Yes\n', 'si', 'SI', 'sI ']) becomes('prior_history', form, 'yes');
    for (const form of ['no', 'NO', ' No ']) becomes('prior_history', form, 'no');
    const bad = ['sí', 'SÍ', 'si\u0301', 'y', 'n', 's', 'true', 1, 0, 'ſi', 'sİ', ...ODD];
    for (const value of [undefined, null, ...bad]) refused('prior_history', value, 'choice');
  });

  it('D10: consent is a JSON boolean and is never guessed', () => {
    becomes('messaging_optin', true, true);
    becomes('messaging_optin', false, false);
    for (const value of [undefined, null, 'true', 'false', 'yes', 'si', '', 1, 0, [], [true], {}]) {
      refused('messaging_optin', value, 'consent');
    }
  });
});

describe('refusals', () => {
  it('contract, D13: an element that is not an object is refused as such, and so is an array', () => {
    for (const element of [
      null,
      undefined,
      'x',
      '',
      5,
      0,
      true,
      false,
      [],
      [NORMAL],
      JSON.stringify(NORMAL),
    ]) {
      assert.deepEqual(read(element), { kind: 'not_an_object' });
    }
  });

  it('D13: a refusal repeats the ID number as sent: text trimmed, 64 code points of it, a number as text, anything else as null', () => {
    const echoes: [unknown, string | null][] = [
      [' 10 20\n', '10 20'],
      ['', ''],
      ['   ', ''],
      [123, '123'],
      [1.5, '1.5'],
      [-0.5, '-0.5'],
      [2 ** 53 - 1, '9007199254740991'],
      [2 ** 53, null],
      [1e21, null],
      [0, '0'],
      [undefined, null],
      [null, null],
      [true, null],
      [['5'], null],
      [{ id: 5 }, null],
      ['a\ud800b', 'a\ufffdb'],
      ['\udc00', '\ufffd'],
      ['\ud83d\ude00', EMOJI],
      ['a\u0000b\u0007', 'a\u0000b\u0007'],
      ['7'.repeat(64), '7'.repeat(64)],
      ['7'.repeat(5_000), '7'.repeat(64)],
      [EMOJI.repeat(65), EMOJI.repeat(64)],
    ];
    for (const [sent, echoed] of echoes) {
      for (const name of NAMES.id_number) {
        // Without a city the element is refused with any ID number.
        const { city: _, ...element } = withField('id_number', name, sent);
        const reading = read(element);
        assert.equal(reading.kind, 'invalid');
        assert.equal((reading as { idNumber: unknown }).idNumber, echoed, JSON.stringify(sent));
      }
    }
  });

  it('D5, D13: the refusal repeats the ID number under the name that is read', () => {
    const idOf = (element: object) => (read(element) as { idNumber?: unknown }).idNumber;
    assert.equal(idOf({ cedula: 'b', id_number: 'a' }), 'a');
    assert.equal(idOf({ cedula: 'b', id_number: null }), 'b');
    assert.equal(idOf({ cedula: 'b', id_number: 7 }), '7');
    assert.equal(idOf({ cedula: 'b', id_number: {} }), null);
  });

  it('D14: every absent required field is a fault, in the contract’s order', () => {
    const required: [FieldName, Problem][] = [
      ['name', 'required'],
      ['id_number', 'required'],
      ['city', 'required'],
      ['income', 'amount'],
      ['debt_amount', 'amount'],
      ['num_debts', 'choice'],
      ['debt_age', 'choice'],
      ['prior_history', 'choice'],
      ['messaging_optin', 'consent'],
    ];
    const faults = required.map(([field, problem]) => ({ field, name: null, problem }));
    const nulls = Object.fromEntries(ALL_NAMES.map((name) => [name, null]));
    for (const element of [{}, nulls]) {
      assert.deepEqual(read(element), { kind: 'invalid', idNumber: null, faults });
    }
  });

  it('D14: all faults are found, in the contract’s order, with any order and names of the fields', () => {
    const names = fc.record(
      Object.fromEntries(ORDER.map((field) => [field, fc.constantFrom(...NAMES[field])])),
    );
    const expected = ORDER.filter((field) => field !== 'currency');
    fc.assert(
      fc.property(names, fc.shuffledSubarray(ORDER, { minLength: ORDER.length }), (named, order) => {
        const element = Object.fromEntries(order.map((field) => [named[field], [field]]));
        assert.deepEqual(
          faultsOf(read(element)).map(({ field, name }) => [field, name]),
          expected.map((field) => [field, named[field]]),
        );
      }),
    );
  });
});

const text = fc.string({ unit: 'binary', maxLength: 70 });
const anyValue = fc.oneof(fc.jsonValue(), text, fc.double(), fc.constantFrom(...BLANKS));
/** An element whose fields are mostly valid and sometimes any value. */
const element = fc
  .tuple(
    fc.record(
      {
        name: text,
        nombre: fc.string({ unit: 'grapheme' }),
        id_number: fc.oneof(text, fc.stringMatching(/^ ?\d{5,10}$/)),
        city: fc.constantFrom('Bogotá', ' Lima '),
        phone: fc.oneof(
          fc.stringMatching(/^(\+|00)999[\d ().-]{6,12}$/),
          fc.stringMatching(/^(\+57|0057|57)? ?3[12]\d{8}$/),
          fc.constant(''),
        ),
        platform: fc.oneof(text, fc.constantFrom('\u0130'.repeat(40), 'ΑΣ', 'ǅ', 'ẞ')),
        currency: fc.oneof(fc.stringMatching(/^[A-Za-z]{3}$/), fc.constantFrom('cop', 'Usd')),
        income: fc.oneof(fc.double({ min: 5e-324, noNaN: true }), fc.stringMatching(/^\d{1,9}(\.\d{1,4})?$/)),
        debt_amount: fc.oneof(
          fc.double({ min: 5e-324, noNaN: true }),
          fc.stringMatching(/^[1-9]e-?\d{1,2}$/),
        ),
        num_debts: fc.constantFrom(1, 2, 3, '1', ' 2', '3 '),
        debt_age: fc.constantFrom('lt6', 'LT6', ' 6A12', '1a2', 'GT2'),
        prior_history: fc.constantFrom('yes', 'NO', 'si', 'Si '),
        messaging_optin: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.oneof(fc.constantFrom(...ALL_NAMES), fc.string()), anyValue, { maxKeys: 3 }),
    fc.boolean(),
  )
  .map(
    ([sound, odd, overwrite]) =>
      ({ ...NORMAL, ...sound, ...(overwrite ? odd : {}) }) as Record<string, unknown>,
  );
const country = fc.constantFrom<Country>('CO', 'MX', 'US', 'AR', 'BR', 'KZ', 'DE');

describe('properties', () => {
  it('contract, D14: any JSON value is read as valid or with its faults in order, without a throw', () => {
    fc.assert(
      fc.property(fc.oneof(element, anyValue), country, (value, partner) => {
        const reading = read(value, 'messaging', partner);
        if (reading.kind === 'invalid') {
          const places = reading.faults.map(({ field }) => ORDER.indexOf(field));
          assert.ok(places.length >= 1);
          assert.deepEqual(
            places,
            [...new Set(places)].sort((a, b) => a - b),
          );
          for (const { field, name } of reading.faults) {
            const source = value as Record<string, unknown>;
            if (name === null) for (const other of NAMES[field]) assert.ok((source[other] ?? null) === null);
            else assert.ok(NAMES[field].includes(name) && source[name] !== null && name in source);
          }
          assert.ok(reading.idNumber === null || reading.idNumber.isWellFormed());
        } else if (reading.kind === 'not_an_object') {
          assert.ok(typeof value !== 'object' || value === null || Array.isArray(value));
        } else {
          assert.deepEqual(Object.keys(reading.application).sort(), [...ORDER].sort());
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('contract "Normalisation": the normal form is read as the same application', () => {
    let valid = 0;
    fc.assert(
      fc.property(element, country, country, (value, partner, otherPartner) => {
        const reading = read(value, 'messaging', partner);
        if (reading.kind !== 'valid') return;
        valid += 1;
        assert.deepEqual(read(reading.application, 'messaging', otherPartner), reading);
      }),
      { numRuns: 2_000 },
    );
    assert.ok(valid > 200, `only ${valid} of the elements were valid`);
  });

  it('D5: unknown fields change nothing', () => {
    const unknown = fc.dictionary(
      fc
        .oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'acme_optin'))
        .filter((key) => !ALL_NAMES.includes(key)),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(element, unknown, (value, extra) => {
        // By way of JSON, where __proto__ is an ordinary name and NaN and Infinity do not exist.
        const known = JSON.parse(JSON.stringify(value));
        const inner = JSON.stringify(known).slice(1, -1);
        const entries = Object.entries(extra).map(
          ([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`,
        );
        const more = JSON.parse(`{${[inner, ...entries].filter((part) => part !== '').join(',')}}`);
        assert.deepEqual(read(more), read(known));
      }),
    );
  });
});

describe('D53: what the partner tells about the consent', () => {
  it('is never required, and blank is absent', () => {
    for (const field of ['consent_at', 'consent_text', 'consent_channel'] as const)
      for (const value of [undefined, null, ...BLANKS]) becomes(field, value, null);
  });

  it('has texts of at most 500 and 64 code points, by the rule of texts (D7)', () => {
    for (const [field, max] of [
      ['consent_text', 500],
      ['consent_channel', 64],
    ] as const) {
      becomes(field, ` ${EMOJI.repeat(max)} `, EMOJI.repeat(max));
      for (const value of [
        'a'.repeat(max + 1),
        EMOJI.repeat(max + 1),
        ...CONTROLS,
        ...LONE_SURROGATES,
        ...NOT_TEXT,
      ])
        refused(field, value, 'text');
    }
  });

  it('has a time of ISO 8601, which is kept as it was sent', () => {
    for (const text of [
      '2026-11-20',
      '2024-02-29',
      '2026-11-20T14:05',
      '2026-11-20T14:05Z',
      '2026-11-20t14:05:59.123456789z',
      '2026-11-20T14:05:00,5-05:00',
      '2026-11-20T14:05:00+0530',
      '2026-11-20T00:00:00-05',
    ])
      becomes('consent_at', ` ${text} `, text);
    for (const value of [
      ...[
        '2026-02-29',
        '2026-04-31',
        '2026-13-01',
        '2026-00-10',
        '26-11-20',
        '20261120',
        '20/11/2026',
        '1764000000',
      ],
      ...[
        '2026-11-20 14:05',
        '2026-11-20T24:00',
        '2026-11-20T14:60',
        '2026-11-20T14',
        '2026-11-20T14:05:00+24:00',
      ],
      ...['yesterday', '2026-11-20T14:05:00Z; DROP', `2026-11-20T14:05:00.${'1'.repeat(40)}`, ...NOT_TEXT],
    ])
      refused('consent_at', value, 'instant');
  });
});
