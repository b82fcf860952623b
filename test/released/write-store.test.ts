/** Writes the store of a release, once, with `npm run store:write` (CONTRIBUTING.md, "The release"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../cli/harness.ts';

const isWriting = process.env.WRITE_STORE === '1';
// Filling takes a reader of documents, and half a minute.
const whole = isWriting ? await (await import('./fill-store.ts')).fillStore() : null;

test('the store has rows in every table, and is small', { skip: !isWriting }, async () => {
  const { rowsOf, showStore, writeStore } = await import('./store.ts');
  const { database, vault, clock } = whole!;
  const { run } = commandLine({ database, vault, clock });
  const rows = await rowsOf(database);
  const shown = await showStore(run);
  const bytes = await writeStore(database, shown, rows);
  console.log(`wrote ${bytes} bytes`);
  assert.ok(bytes < 300_000);
});
