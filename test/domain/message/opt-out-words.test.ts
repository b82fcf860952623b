/**
 * A text asks for no more messages where the whole text is such a request, in any spelling (docs/messages.md,
 * "Consent").
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { mayAskToStop } from '../../../src/domain/message/opt-out-doubts.ts';
import { asksToStop } from '../../../src/domain/message/opt-out-words.ts';

/** Whole messages by language (opt-out-sentences.yaml). */
type Sentences = Readonly<Record<string, readonly string[]>>;
const {
  stops: STOPS,
  asks_back: ASKS_BACK,
  goes_on: GOES_ON,
} = parse(readFileSync(new URL('opt-out-sentences.yaml', import.meta.url), 'utf8')) as {
  readonly stops: Sentences;
  readonly asks_back: Sentences;
  readonly goes_on: Sentences;
};

describe('a text that is a request', () => {
  for (const [language, sentences] of Object.entries(STOPS)) {
    it(language, () =>
      assert.deepEqual(
        sentences.filter((one) => !asksToStop(one)),
        [],
      ),
    );
  }
});

describe('a text that could be meant as a request is asked back, and does not count by itself', () => {
  for (const [language, sentences] of Object.entries(ASKS_BACK)) {
    it(language, () =>
      assert.deepEqual(
        sentences.filter((one) => asksToStop(one) || !mayAskToStop(one)),
        [],
      ),
    );
  }
});

describe('a request in any spelling', () => {
  const FORMS = [
    ...['bájà', 'BAJA \n', ' Salir. ', 'PARAR!!', 'cancelar…', '¡Baja!', '"BAJA"', '*BAJA*', 'Stop .'],
    ...['BAJA 🙏', '🛑 STOP 🛑', 'BAJA👍🏽', 'sair ❤️', '👨‍👩‍👧 baja'],
    ...['ＢＡＪＡ', 'ｓｔｏｐ', 'ＳＡＩＲ', '𝗕𝗔𝗝𝗔', 'ⓑⓐⓙⓐ'],
    ...['B A J A', 'b.a.j.a', 'BAJAAAA', 'STOOOP', 'ba\u200bja', '\u202eBAJA'],
    ...[
      'BAJA por favor',
      'Por favor, dar de baja. Gracias',
      'hola, baja',
      'Buenos días. No quiero más mensajes, gracias',
    ],
    ...['stop please', 'SAIR, obrigada', 'Olá, bom dia, quero sair por favor'],
  ];
  for (const text of FORMS) it(JSON.stringify(text), () => assert.ok(asksToStop(text)));

  it('capitals, accents, emoji, spaces and punctuation change nothing', () => {
    const noise = fc.array(fc.constantFrom(' ', '\n', '.', '!', '…', '🙏', '👍🏽', '"', '\ufe0f', '\u200d'), {
      maxLength: 6,
    });
    const words = fc.constantFrom(...Object.values(STOPS).flat());
    const upper = fc.boolean();
    fc.assert(
      fc.property(noise, words, upper, noise, (before, word, isUpper, after) => {
        const text = `${before.join('')}${isUpper ? word.toUpperCase() : word}${after.join('')}`;
        return asksToStop(text);
      }),
    );
  });
});

describe('a sentence with such a word, or with a similar one', () => {
  for (const [language, sentences] of Object.entries(GOES_ON)) {
    it(language, () =>
      assert.deepEqual(
        sentences.filter((one) => asksToStop(one) || mayAskToStop(one)),
        [],
      ),
    );
  }

  it('a text of nothing, of an emoji, and one that is too long', () => {
    for (const text of ['', '.', '🙏', `BAJA${' '.repeat(150)}`])
      assert.ok(!asksToStop(text) && !mayAskToStop(text));
  });

  it('any text is read quickly', () => {
    const piece = fc.constantFrom(
      ...[
        'como ',
        'que ',
        'por ',
        'favor ',
        'este ',
        'numero ',
        'mensajes ',
        'de ',
        'la ',
        'lista ',
        'base ',
      ],
      ...['dejen ', 'eliminen ', 'mis ', 'datos ', 'sus ', 'recibir ', 'stop ', 'please ', 'remova '],
      'no ',
      'ya ',
      'me ',
      'quiero ',
      'de baja ',
      'mas ',
      'gracias ',
      '+',
      'aaa',
      '🙏',
    );
    const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join('').slice(0, 120));
    const start = process.cpuUsage();
    fc.assert(
      fc.property(text, (body) => {
        asksToStop(body);
        mayAskToStop(body.repeat(8));
      }),
      { numRuns: 500 },
    );
    assert.ok(process.cpuUsage(start).user < 5_000_000);
  });
});
