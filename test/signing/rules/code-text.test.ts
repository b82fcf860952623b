/** The text of a code is one part of an SMS, which costs what one message costs (D46). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { codeText, isGsm } from '../../../src/subjects/signing/rules/code-text.ts';
import { CONTRACT_WORDS } from '../../../src/subjects/signing/rules/contract-words.ts';

const LANGUAGES = Object.keys(CONTRACT_WORDS) as (keyof typeof CONTRACT_WORDS)[];
const lenders = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }),
  fc.constantFrom(
    'Crédito Fácil S.A.',
    'Préstamos & Cía. Ltda.',
    'Instituição de Crédito São João',
    'Ñandú'.repeat(24),
  ),
);

describe('D46: the text of a code', () => {
  for (const language of LANGUAGES) {
    it(`has at most 160 letters of the GSM alphabet in ${language}, with any name of a lender`, () => {
      fc.assert(
        fc.property(lenders, (lender) => {
          const text = codeText(language, '048213', lender);
          assert.ok(isGsm(text), text);
          assert.ok(text.length <= 160, text);
        }),
      );
    });

    it(`has room for a usual name in ${language}, and says what the code is for and where it goes`, () => {
      const text = codeText(language, '048213', 'Compañía de Crédito Fácil S.A.');
      assert.match(text, /^048213 .*Compañia de Crédito Facil S\.A\. .*chat.*10 min/);
    });
  }
});
