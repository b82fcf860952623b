/** The API key comes from the environment or from a file, and no error shows either. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readKey } from '../../src/commands/submit.ts';
import { BulkError } from '../../src/read/bulk-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-key-'));
after(() => rmSync(folder, { recursive: true }));
const fileOf = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const keyOf = (env: Record<string, string>) => readKey({ env } as never);
const refused = (env: Record<string, string>, pattern: RegExp) =>
  assert.throws(
    () => keyOf(env),
    (error) => error instanceof BulkError && pattern.test(error.message) && !error.message.includes(folder),
  );

test('the key comes from the variable, or from the file of the other one without the space around it', () => {
  assert.equal(keyOf({ VENTANILLA_API_KEY: ' vtn_a ' }), 'vtn_a');
  const path = fileOf('key', 'vtn_b\n');
  assert.equal(keyOf({ VENTANILLA_API_KEY_FILE: path }), 'vtn_b');
  assert.equal(keyOf({ VENTANILLA_API_KEY: '', VENTANILLA_API_KEY_FILE: path }), 'vtn_b');
});

test('a key that is missing, given twice, unreadable, empty or with spaces is refused', () => {
  const path = fileOf('key', 'vtn_b\n');
  refused({}, /^VENTANILLA_API_KEY is not set/);
  refused({ VENTANILLA_API_KEY: 'x', VENTANILLA_API_KEY_FILE: path }, /are both set: set one of them/);
  refused(
    { VENTANILLA_API_KEY_FILE: join(folder, 'none') },
    /_FILE names a file that cannot be read \(ENOENT\)/,
  );
  mkdirSync(join(folder, 'folder'));
  refused({ VENTANILLA_API_KEY_FILE: join(folder, 'folder') }, /cannot be read \(EISDIR\)/);
  refused({ VENTANILLA_API_KEY_FILE: fileOf('empty', '\n') }, /_FILE is empty: write the API key into it/);
  chmodSync(path, 0o640);
  refused({ VENTANILLA_API_KEY_FILE: path }, /_FILE names a file that is open to other users: .*chmod 600/);
  refused(
    { VENTANILLA_API_KEY_FILE: fileOf('two', 'vtn_a vtn_b') },
    /_FILE must be the API key as it was issued/,
  );
});
