/** A moment from before a `vault reindex`, and one amid it, are restored with the index keys of now (docs/keys.md). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { Reindexing } from '../../src/seal/reindex.ts';
import { reindex } from '../../src/subjects/vault/uses/reindex.ts';
import { applicant } from '../support/applicant.ts';
import { TEST_SECRETS, TEST_VARIABLES } from '../support/database.ts';
import { confirm, restorable } from './restoring.ts';

const newer = randomBytes(32);
const secrets = { ...TEST_SECRETS, newerIndexKeys: [newer] };
const INDEX_KEY = `${newer.toString('base64')},${TEST_VARIABLES.INDEX_KEY}`;
const [gone, stays, stopped] = [toPhone('+573004440001'), toPhone('+573004440002'), toPhone('+573001112233')];
const { onStore, restoreTo } = restorable();

it('makes the indexes again, and then ends and erases again what is known by the newer key alone', async () => {
  const before = await onStore(async ({ database, json, register }) => {
    await confirm(database, TEST_SECRETS);
    await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
    const { id } = await json('key', 'issue', '--partner', '1');
    await register(id, [applicant({ phone: gone }), applicant({ phone: stays })]);
  });
  const { reindexings } = await loadWitnesses();
  const amid = await onStore(
    async (store) => {
      const killed: Reindexing[] = [{ name: reindexings[0]!.name, step: () => assert.fail('killed') }];
      await assert.rejects(reindex({ ...store, actor: 'ana' }, killed, 'restore'), /killed/);
    },
    { secrets },
  );
  await onStore(
    async (store) => {
      assert.ok(await reindex({ ...store, actor: 'ana' }, reindexings, 'restore'));
      await confirm(store.database, secrets);
      await store.json('suppression', 'add', stopped);
      await store.json('subject', 'erase', '--phone', gone, '--reason', 'x', '--close', '--yes');
    },
    { secrets },
  );

  for (const at of [before, amid]) {
    const { erased, ended } = await restoreTo(at, { INDEX_KEY });
    assert.deepEqual([erased.applications, erased.note, ended.suppressions], [1, null, 2]);
    await onStore(
      async ({ database, json }) => {
        await confirm(database, secrets);
        assert.deepEqual(await json('application', 'list', '--phone', gone), []);
        assert.equal((await json('application', 'list', '--phone', stays)).length, 1);
        assert.equal((await json('suppression', 'list')).length, 2);
        assert.equal((await json('audit', 'verify')).ok, true);
      },
      { secrets },
    );
  }
});
