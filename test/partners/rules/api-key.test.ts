import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Environment } from '../../../src/domain/partner/credential.ts';
import {
  apiKeyHint,
  formatApiKey,
  isApiKey,
  SECRET_BYTES,
} from '../../../src/subjects/partners/rules/api-key.ts';

const key = fc
  .tuple(
    fc.constantFrom<Environment | null>('PRO', 'DEV', null),
    fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES }),
  )
  .map(([environment, secret]) => formatApiKey(environment, Buffer.from(secret)));

describe('API key', () => {
  it('contract "Authentication" 2: a key has at least 128 random bits, a prefix for the environment, and a checksum', () => {
    assert.ok(SECRET_BYTES * 8 >= 128);
    const secret = Buffer.alloc(SECRET_BYTES, 0xab);
    const prefixes: [Environment | null, string][] = [
      ['PRO', 'vtn_pro_'],
      ['DEV', 'vtn_dev_'],
      [null, 'vtn_all_'],
    ];
    const checksums = new Set<string>();
    for (const [environment, prefix] of prefixes) {
      const text = formatApiKey(environment, secret);
      assert.ok(text.startsWith(prefix + secret.toString('hex')), text);
      assert.match(text, /^vtn_[a-z]{3}_[0-9a-f]{48}$/);
      checksums.add(text.slice(-8));
    }
    assert.equal(checksums.size, 3, 'the checksum covers the prefix');
  });

  it('every issued key has the right form, and only the secret decides the key', () => {
    fc.assert(fc.property(key, (text) => assert.equal(isApiKey(text), true)));
    fc.assert(
      fc.property(key, key, (one, other) => assert.ok(one === other || one.slice(8) !== other.slice(8))),
    );
  });

  it('any single changed, missing or added character is refused', () => {
    fc.assert(
      fc.property(
        key,
        fc.nat(55),
        fc.constantFrom(...'0123456789abcdefxyz_ABCDEF \u0000é'),
        (text, at, character) => {
          assert.equal(text.length, 56);
          const changed = text.slice(0, at) + character + text.slice(at + 1);
          assert.equal(isApiKey(changed), changed === text, `changed at ${at}`);
          assert.equal(isApiKey(text.slice(0, at) + text.slice(at + 1)), false, `missing at ${at}`);
          assert.equal(isApiKey(text.slice(0, at) + character + text.slice(at)), false, `added at ${at}`);
        },
      ),
      { numRuns: 2_000 },
    );
    const text = formatApiKey('PRO', Buffer.from('00112233445566778899aabbccddeeff00112233', 'hex'));
    for (let at = 0; at < text.length; at++) {
      for (const digit of '0123456789abcdef') {
        if (digit === text[at]) continue;
        assert.equal(isApiKey(text.slice(0, at) + digit + text.slice(at + 1)), false, `${at} ${digit}`);
      }
    }
  });

  it('other texts are not keys', () => {
    const text = formatApiKey(null, Buffer.alloc(SECRET_BYTES, 1));
    const others = [
      '',
      ' ',
      `${text} `,
      ` ${text}`,
      `${text}\n`,
      text.toUpperCase(),
      `${text}, ${text}`,
      'x'.repeat(1e5),
    ];
    for (const other of others) assert.equal(isApiKey(other), false, JSON.stringify(other.slice(0, 70)));
    fc.assert(fc.property(fc.string(), (other) => assert.equal(isApiKey(other), false)));
  });

  it('a hint shows the environment, and too little of the secret to guess the rest', () => {
    fc.assert(
      fc.property(key, (text) => {
        const hint = apiKeyHint(text);
        assert.ok(text.startsWith(hint) && hint.length > 'vtn_pro_'.length);
        const hiddenBits = (SECRET_BYTES * 2 - (hint.length - 'vtn_pro_'.length)) * 4;
        assert.ok(hiddenBits >= 128, `${hiddenBits} bits stay hidden`);
      }),
    );
  });
});
