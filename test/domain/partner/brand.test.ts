/** The brand of a key and the message that it makes (contract, "Events"; D31, D32; docs/brand.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toMessageId } from '../../../src/domain/application/ids.ts';
import {
  composeMessage,
  formatAmount,
  type MessageSource,
} from '../../../src/domain/message/compose-message.ts';
import { MESSAGE_TYPES } from '../../../src/domain/message/notify.ts';
import {
  localeOfPhone,
  MESSAGE_LANGUAGES,
  type OutgoingMessage,
  parseCallback,
  parseInterestPayload,
} from '../../../src/domain/message/outgoing-message.ts';
import {
  type Brand,
  effectiveBrand,
  PLACEHOLDERS,
  templateNames,
} from '../../../src/domain/partner/brand.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { COUNTRY_CURRENCY, CURRENCIES } from '../../../src/ground/base/country-data.ts';
import { OperatorError } from '../../../src/program/operations/operator-context.ts';
import { brandFaults, faultText } from '../../../src/subjects/partners/rules/check-brand.ts';
import { readBrand } from '../../../src/subjects/partners/uses/brand.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const COLOMBIAN = toPhone('+573001234567');
const BRAZILIAN = toPhone('+5511912345678');

function compose(changes: Partial<MessageSource> = {}): OutgoingMessage {
  return composeMessage({
    messageId: toMessageId('7'),
    attempt: 2,
    type: 'offer',
    phone: COLOMBIAN,
    name: 'Ana Gómez',
    partnerName: 'Acme',
    debtAmount: 8_000_000,
    currency: 'COP',
    brand: {},
    ...changes,
  });
}

describe('the default messages', () => {
  const BR = { phone: BRAZILIAN, debtAmount: 8500, currency: 'BRL' };
  const TEXTS: [changes: Partial<MessageSource>, text: string][] = [
    [
      { type: 'approved' },
      'Hola, Ana Gómez: Acme y Ventanilla aprobaron tu solicitud para unificar tu deuda de $\u00a08.000.000. ' +
        'Toca el botón y seguimos en este chat. Para no recibir más mensajes, responde BAJA.',
    ],
    [
      { type: 'offer' },
      'Hola, Ana Gómez: Acme y Ventanilla pueden ayudarte a unificar tu deuda de $\u00a08.000.000. Tu solicitud ' +
        'está en revisión: toca el botón si te interesa y seguimos en este chat. Para no recibir más mensajes, ' +
        'responde BAJA.',
    ],
    [
      { type: 'rejected' },
      'Hola, Ana Gómez: gracias por tu solicitud con Acme y Ventanilla. Por ahora no podemos aprobarla. Para no ' +
        'recibir más mensajes, responde BAJA.',
    ],
    [
      { type: 'reminder' },
      'Hola, Ana Gómez: tu solicitud con Acme y Ventanilla sigue abierta. Responde a este mensaje y continuamos ' +
        'donde quedamos. Para no recibir más mensajes, responde BAJA.',
    ],
    [
      { ...BR, type: 'approved' },
      'Olá, Ana Gómez: Acme e Ventanilla aprovaram o seu pedido para unificar a sua dívida de R$\u00a08.500,00. ' +
        'Toque no botão e continuamos nesta conversa. Para não receber mais mensagens, responda PARAR.',
    ],
    [
      { ...BR, type: 'offer' },
      'Olá, Ana Gómez: Acme e Ventanilla podem ajudar você a unificar a sua dívida de R$\u00a08.500,00. O seu ' +
        'pedido está em análise: toque no botão se tiver interesse e continuamos nesta conversa. Para não ' +
        'receber mais mensagens, responda PARAR.',
    ],
    [
      { ...BR, type: 'rejected' },
      'Olá, Ana Gómez: agradecemos o seu pedido com Acme e Ventanilla. Por enquanto não podemos aprová-lo. Para ' +
        'não receber mais mensagens, responda PARAR.',
    ],
  ];
  for (const [changes, text] of TEXTS) {
    it(`${changes.type} to ${changes.phone ?? COLOMBIAN}`, () => assert.equal(compose(changes).text, text));
  }

  it('D31: approved and offer carry the balance and the interest button; rejected and reminder have neither', () => {
    for (const phone of [COLOMBIAN, BRAZILIAN]) {
      for (const type of MESSAGE_TYPES) {
        const { text, buttons, template } = compose({ type, phone: toPhone(phone) });
        const carries = type === 'approved' || type === 'offer';
        assert.equal(text.includes('8.000.000'), carries);
        assert.equal(
          template.parameters.some((parameter) => parameter.includes('8.000.000')),
          carries,
        );
        assert.deepEqual(
          buttons.map(({ payload }) => parseInterestPayload(payload)),
          carries ? [7] : [],
        );
      }
    }
  });

  it('D32: a message has the default template with its language and parameters, and a callback with the attempt', () => {
    assert.deepEqual(compose().template, {
      name: 'ventanilla_offer',
      language: 'es',
      parameters: ['Ana Gómez', 'Acme', '$\u00a08.000.000'],
    });
    assert.deepEqual(compose({ type: 'rejected', phone: BRAZILIAN }).template, {
      name: 'ventanilla_rejected',
      language: 'pt_BR',
      parameters: ['Ana Gómez', 'Acme'],
    });
    assert.deepEqual(parseCallback(compose().callback), { messageId: '7', attempt: 2 });
  });

  it('the defaults pass the check of brands', () => {
    assert.deepEqual(brandFaults({}), []);
    assert.deepEqual(brandFaults(effectiveBrand({}, 'Acme')), [], 'also where a brand spells them out');
  });
});

describe('the phone decides the language and the locale', () => {
  const PHONES: [phone: string, locale: string][] = [
    ['+573001234567', 'es-CO'],
    ['+5215512345678', 'es-MX'],
    ['+56912345678', 'es-CL'],
    ['+12125551234', 'es-US'],
    ['+18095551234', 'es-DO'],
    ['+34612345678', 'es-ES'],
    ['+240222123456', 'es-GQ'],
    ['+4915112345678', 'es-DE'],
    ['+88312345678', 'es'],
    ['+5511912345678', 'pt-BR'],
    ['+351912345678', 'pt-PT'],
    ['+244923123456', 'pt-AO'],
    ['+258821234567', 'pt-MZ'],
    ['+2389911234', 'pt-CV'],
    ['+245955123456', 'pt-GW'],
    ['+2399812345', 'pt-ST'],
    ['+67077212345', 'pt-TL'],
  ];
  for (const [phone, locale] of PHONES) {
    it(`${phone} is ${locale}`, () => {
      assert.deepEqual(localeOfPhone(toPhone(phone)), { language: locale.slice(0, 2), locale });
    });
  }
});

describe('amounts', () => {
  const AMOUNTS: [amount: number, currency: string, locale: string, text: string][] = [
    [8_000_000, 'COP', 'es-CO', '$ 8.000.000'],
    [1_234_567.5, 'COP', 'es-CO', '$ 1.234.568'],
    [1200.5, 'USD', 'es-CO', 'US$ 1.200,50'],
    [52_000.25, 'MXN', 'es-MX', '$52,000.25'],
    [8500, 'BRL', 'pt-BR', 'R$ 8.500,00'],
    [1_500_000, 'CLP', 'es-CL', '$1.500.000'],
    [12_000, 'USD', 'es-US', '$12,000.00'],
    [100_000, 'DOP', 'es-DO', 'RD$100,000.00'],
    [90_071_992_547_409.94, 'BRL', 'pt-BR', 'R$ 90.071.992.547.409,94'],
    [8e5, 'COP', 'es-CO', '$ 800.000'],
  ];
  for (const [amount, currency, locale, text] of AMOUNTS) {
    it(`${amount} ${currency} in ${locale}`, () => {
      assert.equal(formatAmount(amount, currency, locale).replaceAll('\u00a0', ' '), text);
    });
  }

  it('in any currency and country an amount is at most as long as the check of a text assumes', () => {
    for (const currency of Object.keys(CURRENCIES)) {
      for (const country of Object.keys(COUNTRY_CURRENCY)) {
        const locale = `${country === 'BR' || country === 'PT' ? 'pt' : 'es'}-${country}`;
        const text = new Intl.NumberFormat(locale, { style: 'currency', currency }).format(999999999999998);
        assert.ok(text.length <= 40, `${currency} ${locale}`);
      }
    }
    for (const amount of [1e15, 1e300, Number.MAX_VALUE]) {
      assert.ok(formatAmount(amount, 'COP', 'es-CO').length <= 40);
    }
  });
});

describe('names of partners', () => {
  const NAMES: [name: string, shown: string][] = [
    ['  Acme \n\t Rápido\u2028Ruiz     Paz ', 'Acme Rápido Ruiz Paz'],
    ['{debt} $& $1', '{debt} $& $1'],
    [`${'Maximiliano '.repeat(6)}`, 'Maximiliano Maximiliano Maximiliano Maximiliano Maximiliano'],
    ['x'.repeat(61), 'x'.repeat(60)],
    [`${'x'.repeat(59)}😀😀`, 'x'.repeat(59)],
    [`${'x'.repeat(60)} Paz`, 'x'.repeat(60)],
  ];
  for (const [name, shown] of NAMES) {
    it(JSON.stringify(name), () => {
      const { text, template } = compose({ partnerName: name, type: 'rejected' });
      assert.ok(text.startsWith(`Hola, Ana Gómez: gracias por tu solicitud con ${shown} y Ventanilla`), text);
      assert.deepEqual(template.parameters, ['Ana Gómez', shown]);
    });
  }
});

describe('a brand', () => {
  const EXAMPLE = readFileSync(join(REPOSITORY, 'examples/brand.json'), 'utf8');

  it('the example of docs/brand.md equals its file, passes the check, and makes the text of the document', () => {
    const page = readFileSync(join(REPOSITORY, 'docs/brand.md'), 'utf8');
    assert.equal(/```json\n([^`]*)```/.exec(page)?.[1], EXAMPLE);
    const message = compose({ brand: readBrand(EXAMPLE, 'examples/brand.json') });
    assert.equal(
      message.text,
      '¡Hola, Ana Gómez! En Acme Repartos y Ventanilla vimos tu deuda de $\u00a08.000.000 y podemos ayudarte a ' +
        'pagarla en una sola cuota. ¿Seguimos por aquí?\n\nResponde BAJA para no recibir más mensajes.',
    );
    assert.deepEqual(message.buttons, [
      { title: 'Me interesa', payload: 'interested.7' },
      { title: 'Más información', payload: 'button.2.7' },
    ]);
    const parameters = ['Ana Gómez', '$\u00a08.000.000', 'Acme Repartos'];
    assert.deepEqual(message.template, { name: 'acme_offer', language: 'es_CO', parameters });
  });

  it('a brand that only names templates is valid, and would_notify shows the names (D32)', () => {
    const brand = readBrand('{"templates": {"approved": "acme_yes", "offer": {"languages": {}}}}', 'x');
    assert.equal(compose({ brand, type: 'approved' }).template.name, 'acme_yes');
    assert.deepEqual(templateNames(brand.templates), {
      approved: 'acme_yes',
      offer: 'ventanilla_offer',
      rejected: 'ventanilla_rejected',
      reminder: 'ventanilla_reminder',
      rejected_reasons: 'ventanilla_rejected_reasons',
    });
  });

  it('the first button of rejected is not the interest button (D31)', () => {
    const brand = { buttons: { rejected: { es: ['Hablar con Acme'] } } };
    assert.deepEqual(brandFaults(brand), []);
    assert.deepEqual(compose({ brand, type: 'rejected' }).buttons, [
      { title: 'Hablar con Acme', payload: 'button.1.7' },
    ]);
  });

  const text = (es: unknown, type = 'offer') => ({ texts: { [type]: { es } } });
  const buttons = (es: unknown, type = 'offer') => ({ buttons: { [type]: { es } } });
  const template = (offer: unknown) => ({ templates: { offer } });
  const fitting = (length: number) =>
    `{name}{partner}{debt}`.padStart(length - 160 + 21 - 1, 'x').concat('.');
  const REFUSED: [value: unknown, fault: RegExp][] = [
    [[], /^the file: must be a JSON object/],
    [null, /^the file: must be a JSON object/],
    [
      { colour: 1 },
      /^the file: unknown key "colour"; the keys are partner, texts, buttons, templates, rejected_reasons, after_review, contract, conversation$/,
    ],
    [JSON.parse('{"__proto__": 1}'), /^the file: unknown key "__proto__"/],
    [{ 'a\u001b[2Jb': 1 }, /^the file: unknown key "a\?\[2Jb"/],
    [{ after_review: 'no' }, /^after_review: must be true or false$/],
    [{ conversation: true }, /^conversation: must be false or a JSON object$/],
    [{ conversation: { steps: { code: false } } }, /^conversation\.steps: unknown key "code"$/],
    [{ partner: '' }, /^partner: must be text of 1 to 60/],
    [{ partner: 'x'.repeat(61) }, /^partner: must be text of 1 to 60/],
    [{ partner: 'Ac\nme' }, /^partner: .*in one line/],
    [{ partner: 'Ac\u200bme' }, /^partner: has invisible/],
    [text('\u202eHola {name}, {partner} {debt}.'), /^texts\.offer\.es: has invisible/],
    [buttons(['S\u2066í']), /^buttons\.offer\.es\[0\]: has invisible/],
    [{ texts: 'x' }, /^texts: must be a JSON object/],
    [
      { texts: { ofer: {} } },
      /^texts: unknown key "ofer"; the keys are approved, offer, rejected, reminder, rejected_reasons$/,
    ],
    [{ texts: { offer: 'x' } }, /^texts\.offer: must be a JSON object/],
    [{ texts: { offer: { en: 'x' } } }, /^texts\.offer: unknown key "en"; the keys are es, pt$/],
    [text(7), /^texts\.offer\.es: must be text/],
    [text(' '), /^texts\.offer\.es: must be text/],
    [text('A {name} {partner} {debt} a\u0007'), /^texts\.offer\.es: has control characters/],
    [text('A {name} {partner} {debt} a\r\n'), /^texts\.offer\.es: has control characters/],
    [text('A {name} {partner} {debt} a\ud83d'), /^texts\.offer\.es: .*half of a surrogate pair/],
    [
      text('A {name} {city} {debt}.'),
      /es: the placeholder \{city\} is unknown.* \{name\}, \{partner\}, \{debt\}/,
    ],
    [text('A {toString} {debt}.'), /^texts\.offer\.es: the placeholder \{toString\} is unknown/],
    [text('A {{1}} b'), /^texts\.offer\.es: the placeholder \{1\} is unknown/],
    [text('A {name} {partner} {debt.'), /^texts\.offer\.es: has an unpaired brace/],
    [
      text('A {name}, {partner}: {debt}', 'rejected'),
      /\{debt\} is not allowed in rejected.* \{name\}, \{partner\}/,
    ],
    [text('{name}: {partner} {debt}.'), /^texts\.offer\.es: may not begin or end with a placeholder/],
    [text('A {name} {partner} {debt} \n'), /^texts\.offer\.es: may not begin or end with a placeholder/],
    [
      text(fitting(1025)),
      /^texts\.offer\.es: can have 1025 characters with the longest values; the limit is 1024/,
    ],
    [
      text('A {name} {partner}.'),
      /^texts\.offer\.es: the text has name, partner, but .* name, partner, debt/,
    ],
    [text('A.', 'rejected'), /^texts\.rejected\.es: the text has none, but the parameters/],
    [buttons('x'), /^buttons\.offer\.es: must be a list of 1 to 3 titles/],
    [buttons([]), /^buttons\.offer\.es: must be a list of 1 to 3/],
    [buttons(['a', 'b', 'c', 'd']), /^buttons\.offer\.es: must be a list of 1 to 3/],
    [buttons(['a', 'b', 'c', 'd'], 'rejected'), /^buttons\.rejected\.es: must be a list of 0 to 3/],
    [buttons(['a', 'x'.repeat(21)]), /^buttons\.offer\.es\[1\]: must be text of 1 to 20 characters/],
    [buttons(['']), /^buttons\.offer\.es\[0\]: must be text of 1 to 20/],
    [buttons([7]), /^buttons\.offer\.es\[0\]: must be text of 1 to 20/],
    [buttons(['a\nb']), /^buttons\.offer\.es\[0\]: .*in one line/],
    [buttons(['Hola {name}']), /^buttons\.offer\.es\[0\]: titles are fixed/],
    [buttons(['Me interesa', 'Me interesa ']), /^buttons\.offer\.es: has the same title twice/],
    [template('Big Name'), /^templates\.offer: must be a template's name/],
    [template('x'.repeat(513)), /^templates\.offer: must be a template's name/],
    [template(null), /^templates\.offer: must be a JSON object/],
    [
      template({ nam: 'x' }),
      /^templates\.offer: unknown key "nam"; the keys are name, languages, parameters$/,
    ],
    [template({ name: '' }), /^templates\.offer\.name: must be a template's name/],
    [
      template({ languages: { es: 'es-CO' } }),
      /^templates\.offer\.languages\.es: must be a template's language/,
    ],
    [
      template({ parameters: 'name' }),
      /^templates\.offer\.parameters: must be a list of name, partner, debt/,
    ],
    [template({ parameters: ['debt', 'debt'] }), /^templates\.offer\.parameters: .*each at most once/],
    [template({ parameters: ['debt', 'city'] }), /^templates\.offer\.parameters: must be a list/],
    [template({ parameters: ['name'] }), /^templates\.offer\.parameters: must have debt/],
    [template({ parameters: ['debt'] }), /^texts\.offer\.es: the default text has name, partner, debt, but/],
    [
      { templates: { rejected: { parameters: ['name', 'debt'] } } },
      /^templates\.rejected\.parameters: must be/,
    ],
  ];
  for (const [value, fault] of REFUSED) {
    it(`refused: ${JSON.stringify(value).slice(0, 80)}`, () => {
      assert.match(brandFaults(value).map(faultText)[0] ?? 'nothing', fault);
    });
  }

  it('a brand just within the limits passes', () => {
    const value: unknown = {
      ...text(fitting(1024)),
      partner: 'x'.repeat(60),
      ...buttons(['x'.repeat(20), 'b', 'c']),
      templates: {
        offer: 'x'.repeat(512),
        rejected: { languages: { pt: 'pt' }, parameters: ['partner', 'name'] },
      },
    };
    const brand = readBrand(JSON.stringify(value), 'b.json');
    assert.equal(compose({ brand, name: 'n'.repeat(200) }).buttons.length, 3);
  });

  it('the error has all faults at once, after the name of the file', () => {
    const wrong = JSON.stringify({ partner: '', ...buttons([]) });
    assert.throws(() => readBrand(wrong, 'b.json'), {
      name: 'OperatorError',
      message: /^the brand file b\.json: partner: .*; buttons\.offer\.es: /,
    });
    assert.throws(() => readBrand('{\n"partner": \n x', 'b.json'), {
      name: 'OperatorError',
      message: /^the brand file b\.json must hold JSON: .*$/,
    });
  });
});

describe('any brand', () => {
  const line = (maxLength: number) =>
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc.string({ minLength: 1, maxLength }).map((text) => text.replace(/[ {}]/g, '-')),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: maxLength + 1 }) },
    );
  const byLanguage = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.record(Object.fromEntries(MESSAGE_LANGUAGES.map((language) => [language, arbitrary])), {
      requiredKeys: [],
    });
  const byType = <T>(of: (type: string) => fc.Arbitrary<T>) =>
    fc.record(Object.fromEntries(MESSAGE_TYPES.map((type) => [type, of(type)])), { requiredKeys: [] });
  const placeholders = (type: string) =>
    PLACEHOLDERS.filter((word) => word !== 'debt' || type === 'approved' || type === 'offer');
  const textOf = (type: string) => {
    const words = placeholders(type).map((word) => `{${word}}`);
    const filling = fc.constantFrom(...words, 'Hola', '\n', '😀', 'x'.repeat(150));
    return fc.array(filling, { maxLength: 8 }).map((more) => `A ${[...more, ...words].join(' ')}.`);
  };
  const parameters = (type: string) =>
    fc.shuffledSubarray(placeholders(type), { minLength: placeholders(type).length });
  /** Values close to the form of a brand, so that many pass. */
  const near = fc.record(
    {
      partner: line(60),
      after_review: fc.boolean(),
      texts: byType((type) => byLanguage(textOf(type))),
      buttons: byType(() => byLanguage(fc.uniqueArray(line(20), { minLength: 1, maxLength: 3 }))),
      templates: byType((type) =>
        fc.oneof(
          fc.constant('acme_1'),
          fc.record({ name: fc.constant('acme_2'), parameters: parameters(type) }, { requiredKeys: [] }),
        ),
      ),
    },
    { requiredKeys: [] },
  );

  it('any value is either a brand or an OperatorError', () => {
    const nested = fc.oneof(
      fc.jsonValue(),
      byType(() => fc.jsonValue()),
      byType(() => byLanguage(fc.jsonValue())),
    );
    const wild = fc.record(
      { partner: fc.jsonValue(), texts: nested, buttons: nested, templates: nested },
      { requiredKeys: [] },
    );
    const texts = fc.oneof(
      fc.json(),
      fc.string(),
      wild.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(texts, (file) => {
        try {
          readBrand(file, 'b.json');
        } catch (error) {
          assert.ok(error instanceof OperatorError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a brand that passes makes messages within the limits of the channel, for any applicant', () => {
    let passed = 0;
    const visible = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
      .filter((name) => name.trim() !== '');
    const source = fc.record({
      type: fc.constantFrom(...MESSAGE_TYPES),
      phone: fc.constantFrom(COLOMBIAN, BRAZILIAN, toPhone('+12125551234'), toPhone('+88312345678')),
      name: visible,
      partnerName: visible,
      debtAmount: fc.double({ min: 1e-9, noNaN: true, noDefaultInfinity: true }),
      currency: fc.constantFrom(...Object.keys(CURRENCIES)),
    });
    fc.assert(
      fc.property(near, source, (value, someSource) => {
        if (brandFaults(value).length > 0) return;
        passed += 1;
        const { text, buttons, template } = compose({ ...someSource, brand: value as Brand });
        assert.ok(text.length > 0 && text.length <= 1024);
        assert.ok(buttons.length <= 3 && new Set(buttons.map(({ title }) => title)).size === buttons.length);
        for (const { title, payload } of buttons) {
          assert.ok(title.length >= 1 && title.length <= 20 && payload.length <= 256);
        }
        for (const parameter of template.parameters) {
          assert.doesNotMatch(parameter, /[\n\t]| {5}|^$/);
          assert.ok(text.includes(parameter));
        }
      }),
      { numRuns: 4000 },
    );
    assert.ok(passed > 100, `only ${passed} passed`);
  });

  it('a brand completed with the defaults passes and makes the same messages', () => {
    fc.assert(
      fc.property(near, (value) => {
        if (brandFaults(value).length > 0) return;
        const effective = effectiveBrand(value as Brand, 'Acme');
        const again = readBrand(JSON.stringify(effective), 'b.json');
        assert.deepEqual(effectiveBrand(again, 'Somebody else'), effective);
      }),
    );
  });
});
