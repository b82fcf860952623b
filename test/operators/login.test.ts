/** The name that an operator signs in with (D48): found as people type and paste it, and nobody else's. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normalLogin, readLogin } from '../../src/subjects/operators/rules/login.ts';

describe('a login', () => {
  for (const text of [
    'ana.diaz',
    ' Ana.Diaz\t',
    'ANA.DIAZ',
    'ａｎａ．ｄｉａｚ',
    '\u200bana.diaz\ufeff',
    'ana\u00ad.diaz\u00a0',
  ]) {
    it(`${JSON.stringify(text)} is ana.diaz`, () => {
      assert.equal(normalLogin(text), 'ana.diaz');
      assert.equal(readLogin(text), 'ana.diaz');
    });
  }

  it('with letters that look like others is nobody: no account can have it', () => {
    for (const text of [
      'аna.diaz',
      'ana.dıaz',
      'anα.diaz',
      'ana diaz',
      'aná.diaz',
      '1ana',
      'a',
      'a\u0000b',
      '',
    ])
      assert.equal(readLogin(text), null, JSON.stringify(text));
  });

  it('is an address of e-mail in any case', () => {
    assert.equal(readLogin('Ana.Diaz+Desk@Example.COM'), 'ana.diaz+desk@example.com');
  });
});
