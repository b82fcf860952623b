import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FieldName, namedFields } from '../../src/domain/application/fields.ts';
import { type Fault, type Problem, readApplication } from '../../src/domain/application/read-application.ts';
import type { Language } from '../../src/ground/base/language.ts';
import { faultTexts, REFUSAL_TEXTS } from '../../src/wire/contract/texts.ts';

const text = faultTexts(namedFields('messaging'));

const AMOUNT = ['NAME is required and must be > 0 (numeric)', 'NAME es requerido y debe ser > 0 (numérico)'];
const REQUIRED = ['NAME is required', 'NAME es requerido'];
const choice = (en: string, es = en) => [
  `NAME is required and must be one of: ${en}`,
  `NAME es requerido y debe ser uno de: ${es}`,
];
const atMost = (max: number) => [
  `NAME must be text of at most ${max} characters`,
  `NAME debe ser texto de máximo ${max} caracteres`,
];
const CONSENT = ['NAME is required and must be true or false', 'NAME es requerido y debe ser true o false'];
const PHONE = ['NAME must be a number with country code', 'NAME debe ser un número con código de país'];

const INSTANT = ['NAME must be a date and time (ISO 8601)', 'NAME debe ser una fecha y hora (ISO 8601)'];

/** D14 and D26, word for word: each field's names, and the text of each problem in English and in Spanish. */
const TABLE: [FieldName, string[], Partial<Record<Problem, string[]>>][] = [
  ['name', ['name', 'nombre'], { required: REQUIRED, text: atMost(200) }],
  ['id_number', ['id_number', 'cedula'], { required: REQUIRED, text: atMost(64) }],
  ['city', ['city', 'ciudad'], { required: REQUIRED, text: atMost(120) }],
  ['phone', ['phone', 'telefono'], { phone: PHONE, text: atMost(32) }],
  ['platform', ['platform', 'plataforma'], { text: atMost(64) }],
  ['income', ['income', 'ingreso', 'ingreso_cop'], { amount: AMOUNT }],
  ['debt_amount', ['debt_amount', 'monto_deuda', 'monto_deuda_cop'], { amount: AMOUNT }],
  ['num_debts', ['num_debts', 'num_deudas'], { choice: choice('1, 2, 3') }],
  ['debt_age', ['debt_age', 'antiguedad_mora'], { choice: choice('lt6, 6a12, 1a2, gt2') }],
  ['prior_history', ['prior_history'], { choice: choice('yes, no', 'si, no') }],
  ['prior_history', ['historial_previo'], { choice: choice('si, no') }],
  ['messaging_optin', ['messaging_optin', 'optin_messaging'], { consent: CONSENT }],
  ['consent_at', ['consent_at', 'consentimiento_fecha'], { instant: INSTANT }],
  ['consent_text', ['consent_text', 'consentimiento_texto'], { text: atMost(500) }],
  ['consent_channel', ['consent_channel', 'consentimiento_canal'], { text: atMost(64) }],
];

/** A value for each problem, for a field that can have the problem. */
const BAD: Record<Problem, unknown> = {
  required: ' ',
  amount: 0,
  choice: 'x',
  consent: 'true',
  phone: 'x',
  text: [],
  instant: 'yesterday',
};

const faultsOf = (element: unknown): readonly Fault[] => {
  const reading = readApplication(element, namedFields('messaging'), 'CO');
  return reading.kind === 'invalid' ? reading.faults : [];
};

describe('fault texts', () => {
  it('D14, D26: every problem of every field has its text in both languages, with the field’s name as sent', () => {
    for (const [field, names, problems] of TABLE) {
      for (const name of names) {
        for (const [problem, templates] of Object.entries(problems)) {
          const faults = faultsOf({ [name]: BAD[problem as Problem] }).filter(
            (fault) => fault.field === field,
          );
          assert.equal(faults.length, 1, `${name} ${problem}`);
          for (const [index, language] of (['en', 'es'] as const).entries()) {
            assert.equal(text(faults, language), (templates[index] as string).replace('NAME', name));
          }
        }
      }
    }
  });

  it('D14, D6: the text of an absent field has the first name in the answer’s language', () => {
    const expected: Record<Language, string[]> = {
      en: [
        'name is required',
        'id_number is required',
        'city is required',
        'income is required and must be > 0 (numeric)',
        'debt_amount is required and must be > 0 (numeric)',
        'num_debts is required and must be one of: 1, 2, 3',
        'debt_age is required and must be one of: lt6, 6a12, 1a2, gt2',
        'prior_history is required and must be one of: yes, no',
        'messaging_optin is required and must be true or false',
      ],
      es: [
        'nombre es requerido',
        'cedula es requerido',
        'ciudad es requerido',
        'ingreso es requerido y debe ser > 0 (numérico)',
        'monto_deuda es requerido y debe ser > 0 (numérico)',
        'num_deudas es requerido y debe ser uno de: 1, 2, 3',
        'antiguedad_mora es requerido y debe ser uno de: lt6, 6a12, 1a2, gt2',
        'historial_previo es requerido y debe ser uno de: si, no',
        'optin_messaging es requerido y debe ser true o false',
      ],
    };
    for (const language of ['en', 'es'] as const) {
      assert.equal(text(faultsOf({}), language), expected[language].join('; '));
    }
  });

  it('D6: with CHANNEL_NAME=acme the text names a consent as sent, and an absent consent by its fixed name', () => {
    const fields = namedFields('acme');
    const textOf = faultTexts(fields);
    const consentOf = (element: object) => {
      const reading = readApplication(element, fields, 'CO');
      return reading.kind === 'invalid' ? reading.faults.filter(({ problem }) => problem === 'consent') : [];
    };
    for (const name of ['acme_optin', 'optin_acme', 'messaging_optin', 'optin_messaging']) {
      assert.equal(textOf(consentOf({ [name]: 1 }), 'en'), `${name} is required and must be true or false`);
      assert.equal(textOf(consentOf({ [name]: 1 }), 'es'), `${name} es requerido y debe ser true o false`);
    }
    assert.equal(textOf(consentOf({}), 'en'), 'messaging_optin is required and must be true or false');
    assert.equal(textOf(consentOf({}), 'es'), 'optin_messaging es requerido y debe ser true o false');
  });

  it('D14: a text joins its faults by "; " in their order, sent names beside absent ones', () => {
    const good = {
      name: 'Ana',
      cedula: '1',
      city: 'Lima',
      num_debts: 1,
      debt_age: 'lt6',
      prior_history: 'no',
    };
    const faults = faultsOf({ ...good, ingreso_cop: 'x', telefono: 'x', messaging_optin: false });
    assert.equal(
      text(faults, 'en'),
      'telefono must be a number with country code; ingreso_cop is required and must be > 0 (numeric); debt_amount is required and must be > 0 (numeric)',
    );
    assert.equal(
      text(faults, 'es'),
      'telefono debe ser un número con código de país; ingreso_cop es requerido y debe ser > 0 (numérico); monto_deuda es requerido y debe ser > 0 (numérico)',
    );
  });
});

describe('refusal texts', () => {
  it('contract "Per-application errors", D14, D26: each refusal has its text in both languages', () => {
    assert.deepEqual(REFUSAL_TEXTS, {
      not_an_object: { en: 'application must be an object', es: 'la solicitud debe ser un objeto' },
      duplicate: {
        en: 'a request already exists for this messaging-channel number',
        es: 'ya existe una solicitud para este número del canal de mensajería',
      },
      over_quota: { en: 'quota_partner_exceeded', es: 'quota_partner_excedida' },
    });
  });
});
