/** A restored store is restored once more, to a moment that its place has of the first store (docs/backup.md). */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { applicant } from '../support/applicant.ts';
import { restorable } from './restoring.ts';

const { folder, onStore, restoreTo } = restorable();

it('ends and erases again what the first store has ended and erased after the moment, and what the restored one has', async () => {
  const [gone, stays] = [toPhone('+573004440001'), toPhone('+573004440002')];
  const keys: number[] = [];
  const early = await onStore(async ({ json }) => {
    await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  });
  const late = await onStore(async ({ json, register }) => {
    for (let n = 0; n < 2; n += 1) keys.push((await json('key', 'issue', '--partner', '1')).id);
    await register(keys[0]!, [applicant({ phone: gone }), applicant({ phone: stays })]);
    await json('operator', 'add', '--login', 'luz', '--role', 'reviewer');
  });
  // It is killed before it has written the erasure beside the backups.
  await onStore(
    async ({ json }) => {
      await json('key', 'revoke', `${keys[0]}`);
      await json('operator', 'disable', 'luz');
      await json('suppression', 'add', '+573009998877');
      await json('subject', 'erase', '--phone', gone, '--reason', 'x', '--close', '--yes');
    },
    { copiesErasures: false },
  );

  await restoreTo(early);
  await onStore(
    async ({ json }) => {
      assert.deepEqual(await json('key', 'list'), []);
      await json('suppression', 'add', '+573001112233');
    },
    { copiesErasures: false },
  );

  assert.equal(readdirSync(folder).includes('erasures'), false);
  const { ended, erased } = await restoreTo(late);
  assert.deepEqual([ended.keys, erased.note], [[keys[0]], null]);
  assert.deepEqual(
    ended.losses.map(({ what }) => what),
    ['account'],
  );
  assert.deepEqual([ended.suppressions, erased.erasures, erased.applications], [3, 1, 1]);
  await onStore(async ({ json }) => {
    const found = (await json('key', 'list')) as { id: number; status: string }[];
    assert.deepEqual(
      keys.map((key) => found.find(({ id }) => id === key)?.status),
      ['revoked', 'live'],
    );
    assert.deepEqual(await json('application', 'list', '--phone', gone), []);
    assert.equal((await json('application', 'list', '--phone', stays)).length, 1);
    await json('key', 'revoke', `${keys[1]}`);
  });

  await restoreTo(early);
  await onStore(async ({ json }) => {
    assert.deepEqual(await json('key', 'list'), []);
  });
  const again = await restoreTo(late);
  assert.deepEqual(
    [again.ended.keys, again.erased.note],
    [keys, null],
    'the line of each restore is looked at, also of one from before another',
  );
});
