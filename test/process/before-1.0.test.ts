/** A store of a version before 1.0 is refused in one sentence, by services and by commands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { REPOSITORY } from './support.ts';
import { versionsOn } from './versions.ts';

const store = await testDatabase();
const { command } = versionsOn(store, { CHANNEL: 'log' });
// Such a store has everything but the list of functions.
await store.database.query('ALTER TABLE schema_functions RENAME TO of_no_version');

const REFUSAL =
  'error: a version before 1.0 made the database, and no later version takes over its store: start the version that ' +
  'made it, or give this version an empty database or DATA_DIR\n';

for (const args of [['serve'], ['worker'], ['migrate'], ['migrate', '--status'], ['application', 'list']]) {
  test(args.join(' '), async () => {
    const { code, err } = await command(REPOSITORY, args).exit;
    assert.deepEqual([code, err], [1, REFUSAL]);
  });
}

test('status tells it as the trouble of the store', async () => {
  const { code, out } = await command(REPOSITORY, ['status']).exit;
  assert.equal(code, 1);
  assert.ok(out.includes(REFUSAL.slice('error: '.length, -1)), out);
});

test('nothing of the store has changed', async () => {
  const { rows } = await store.database.query("SELECT to_regclass('schema_functions') AS made");
  assert.deepEqual(rows, [{ made: null }]);
});
