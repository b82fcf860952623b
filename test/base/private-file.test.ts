/** Which files of secrets are refused, as ssh judges a key. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isOpenToOthers } from '../../src/ground/base/private-file.ts';

it('a file of one’s own gives nobody else a right; the file of another user is not judged', () => {
  const uid = process.getuid?.() ?? 0;
  const FILE = 0o100000;
  for (const [mode, isOpen] of [
    [0o600, false],
    [0o400, false],
    [0o700, false],
    [0o640, true],
    [0o604, true],
    [0o601, true],
    [0o620, true],
    [0o666, true],
  ] as const) {
    assert.equal(isOpenToOthers({ uid, mode: FILE | mode }), isOpen, mode.toString(8));
    assert.equal(isOpenToOthers({ uid: uid + 1, mode: FILE | mode }), false, mode.toString(8));
  }
});
