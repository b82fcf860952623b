/** What a message shows of an applicant's name (D42). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toMessageId } from '../../../src/domain/application/ids.ts';
import { composeMessage, shownName } from '../../../src/domain/message/compose-message.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';

const NAMES: [text: string, shown: string][] = [
  ['Ana', 'Ana'],
  ['Ana Gómez', 'Ana Gómez'],
  ['María Fernanda Restrepo Vélez', 'María Fernanda'],
  ['María del Carmen Rodríguez', 'María del Carmen'],
  ['María de los Ángeles Peña', 'María de los Ángeles'],
  ['Ma. Guadalupe Hernández', 'Ma. Guadalupe'],
  ['M.ª José Ortiz', 'M.ª José'],
  ['J. R. Ruiz', 'J. R.'],
  ['J.R. Ruiz', 'J.R. Ruiz'],
  ['De la Cruz María', 'De la Cruz María'],
  ['JOSÉ ÁNGEL NÚÑEZ', 'JOSÉ ÁNGEL'],
  ['Íngrid Ximena Agüero Ñancupil', 'Íngrid Ximena'],
  ['João da Silva Santos', 'João da Silva'],
  ['Ana Conceição Araújo', 'Ana Conceição'],
  ["José D'Ávila", "José D'Ávila"],
  ['Bernardo O’Higgins', 'Bernardo O’Higgins'],
  ['Ana D´Angelo', "Ana D'Angelo"],
  ['Ana D`Angelo', "Ana D'Angelo"],
  ['Lucía Saint-Exupéry Ríos', 'Lucía Saint-Exupéry'],
  ["Nayra Ch'aska Q'ispe", "Nayra Ch'aska"],
  ["Ixchel Kab' Ajmaq", "Ixchel Kab'"],
  ["K'inich Tz'utujil", "K'inich Tz'utujil"],
  ['Itzel Xóchitl Citlali', 'Itzel Xóchitl'],
  ['Arami G\u0303uyra', 'Arami G\u0303uyra'],
  ['Jose\u0301 Pe\u0301rez', 'José Pérez'],
  ['Juan Pablo II', 'Juan Pablo'],
  ['Jürgen von Schröder', 'Jürgen von Schröder'],
  ['María de los', 'María'],
  ['De la', 'De la'],
  ['  Ana \u00a0  Gómez  ', 'Ana Gómez'],
  ['Ana\u2028Gómez', 'Ana Gómez'],
  ['Ana\n\tGómez', 'Ana Gómez'],
  ['A\u200bna G\u00adóm\u200dez\ufeff', 'Ana Gómez'],
  ['\u202eAna\u202c \u2066Gómez\u2069', 'Ana Gómez'],
  ['Su cuenta sera embargada', 'Su cuenta'],
];

const HOSTILE: readonly string[] = [
  'Su cuenta sera embargada, pague en https://pagos.example/x',
  'pague en https://x.co',
  'https://x.co',
  'www.x.co',
  'Ana x.co',
  'x.co',
  't.me',
  'Ana wa.me/57',
  'x\u2024co',
  'x\uff0eco',
  'x\u3002co',
  'x\u00b7co',
  'x\u2027co',
  'x\u200b.\u200bco',
  'Ana @acme',
  'ana@x.co',
  'Ana 3001234567',
  'Ana ٣٠٠',
  'Ana ３００',
  'Ana Ⅷ',
  'Ana ①',
  '*Ana*',
  '_Ana_',
  '~Ana~',
  '```Ana```',
  '> Ana',
  '- Ana',
  '* Ana',
  "'Ana'",
  'Ana "Ya" Gómez',
  'Ana: pague',
  'Ana, pague',
  'Ana; pague',
  'Ana! Pague',
  'Ana (urgente)',
  'Ana\u0000Gómez',
  'Ana\u001b[31m',
  'Ana 😀',
  'Ana \u2764\ufe0f',
  'Ana \u{e0041}\u{1f3f4}',
  'Ana \u2800Gómez',
  'Ana $& {debt}',
  'Ana--Gómez',
  'Ana..',
  "Ana''Gómez",
  'Z\u0300\u0301\u0302\u0303algo',
  'Аna Gómez',
  'محمد علي',
  '李伟',
  '\u3164',
  '\u200b\u200e\u202e',
  '\u0301',
  '',
  '   ',
  '.',
  "'",
  '-',
  'x'.repeat(26),
  'Ana '.repeat(13),
  `${'x'.repeat(25)} de las los das ${'x'.repeat(25)}`,
  'Estimado cliente su credito ha sido suspendido y debe usted comunicarse hoy mismo con nosotros',
  'a'.repeat(200),
];

describe('a message shows a name only as a name (D42)', () => {
  for (const [text, shown] of NAMES) {
    it(`${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () =>
      assert.equal(shownName(text), shown));
  }
  for (const text of HOSTILE) {
    it(`${JSON.stringify(text.slice(0, 60))} is left out`, () => assert.equal(shownName(text), null));
  }

  it('a name that is left out has a word in its place, because the channel refuses an empty parameter', () => {
    const texts = (['+573001234567', '+5511912345678'] as const).map((phone) =>
      composeMessage({
        messageId: toMessageId('7'),
        attempt: 1,
        type: 'rejected',
        phone: toPhone(phone),
        name: 'pague en https://x.co',
        partnerName: 'Acme',
        debtAmount: 1,
        currency: 'COP',
        brand: {},
      }),
    );
    for (const { template } of texts) assert.deepEqual(template.parameters, ['cliente', 'Acme']);
    assert.match(texts[0]?.text ?? '', /^Hola, cliente: gracias/);
    assert.match(texts[1]?.text ?? '', /^Olá, cliente: agradecemos/);
  });

  it('whatever the text, what is shown has letters, single spaces and few signs, and no address', () => {
    const signs = fc.constantFrom(...` .'-’*_~\`:/@\u200d\u202e\t\n\u0301ª1añÑ`, 'de ', 'www.', '.co', '://');
    const texts = fc.oneof(
      fc.array(signs, { maxLength: 40 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 200 }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const shown = shownName(text);
        if (shown === null) return;
        assert.match(shown, /^(?:[\p{L}\p{Mn}'’ʼ\-‐‑]|\.(?!\p{L}{2})| (?! ))+$/u);
        assert.ok(shown.length <= 60 && shown === shown.trim() && /\p{L}/u.test(shown), shown);
      }),
      { numRuns: 2_000 },
    );
  });
});
