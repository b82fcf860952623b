import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOfPhone } from '../../../src/domain/conversation/language.ts';
import { countryOfPhone, toPhone } from '../../../src/domain/phone/phone.ts';
import { DEMO_TERMS } from '../../../src/subjects/signing/rules/demo-terms.ts';

for (const [phone, language] of [
  ['+18765551234', 'en'],
  ['+919876543210', 'en'],
  ['+447400123456', 'en'],
  ['+5511961234567', 'pt'],
  ['+573001234567', 'es'],
  ['+12015550123', 'es'],
] as const) {
  test(`D45: the demo's contract for ${phone} is in the language of the conversation, ${language}`, () => {
    const country = countryOfPhone(toPhone(phone))!;
    const { contract } = DEMO_TERMS.countries[country]!;
    assert.deepEqual(
      [DEMO_TERMS.contracts[contract]!.language, languageOfPhone(toPhone(phone)).language],
      [language, language],
    );
  });
}
