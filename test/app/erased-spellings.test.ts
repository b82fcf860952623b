/** A person with four spellings of the ID number is erased twice, around restores to before and between (D49). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { REVEAL } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { restorable } from './restoring.ts';

const SPELLINGS = ['1.077.345.210', '1077345210', '1 077 345 210', 'CC 1077345210'] as const;
const PHONES = SPELLINGS.map((_, index) => toPhone(`+57300555000${index}`));
const STRANGER = '1077345211';
const { onStore, restoreTo } = restorable();

type Tools = Parameters<Parameters<typeof onStore>[0]>[0];
const ERASE = ['subject', 'erase', '--id-number', SPELLINGS[3], '--reason', 'x', '--close', '--yes'] as const;
let key = 0;

/** Registers these spellings, each with a phone of its own. */
async function register({ register: send }: Tools, ...which: number[]): Promise<number[]> {
  const ids = await send(
    key as never,
    which.map((index) =>
      applicant({ name: 'Persona Ida', id_number: SPELLINGS[index]!, phone: PHONES[index]! }),
    ),
  );
  return ids as number[];
}

/** Nothing of the person is readable, and nobody writes to the phones. */
async function isGone({ json, run, database }: Tools, ids: readonly number[]): Promise<void> {
  for (const spelling of SPELLINGS)
    assert.deepEqual(await json('application', 'list', '--id-number', spelling), [], spelling);
  for (const phone of PHONES) assert.deepEqual(await json('application', 'list', '--phone', phone), []);
  const { rows } = await database.query<{ id: number }>('SELECT id::float8 AS id FROM applications');
  for (const { id } of rows) {
    const { out } = await run('application', 'show', `${id}`, '--json', ...REVEAL);
    assert.equal(/Persona Ida|1077345210/.test(out), false, out);
  }
  assert.deepEqual(
    rows
      .map((row) => row.id)
      .filter((id) => ids.includes(id))
      .toSorted(),
    ids.toSorted(),
  );
}

it('nothing of the person is readable, whichever moment is restored, and a stranger with the same number stays', async () => {
  let ids: number[] = [];
  const told: string[] = [];
  const erase = async ({ run }: Tools) => {
    const { out, code, err } = await run(...ERASE);
    assert.equal(code, 0, err);
    told.push(out.split('\n')[0]!);
  };
  const first = await onStore(async (tools) => {
    await tools.json('partner', 'add', '--name', 'Acme', '--country', 'CO');
    key = (await tools.json('key', 'issue', '--partner', '1')).id;
    ids = await register(tools, 0, 1);
  });
  let later: number[] = [];
  const between = await onStore(async (tools) => {
    await erase(tools);
    await isGone(tools, ids);
    later = await register(tools, 2, 3);
  });
  await onStore(async (tools) => {
    await erase(tools);
    await isGone(tools, [...ids, ...later]);
    assert.equal((await tools.json('suppression', 'list')).length, 4);
  });

  const beforeBoth = await restoreTo(first);
  assert.deepEqual([beforeBoth.erased.erasures, beforeBoth.erased.applications], [2, 2]);
  await onStore(async (tools) => {
    await isGone(tools, ids);
    assert.equal((await tools.json('suppression', 'list')).length, 4);
    // Gets the number of a batch that the second erasure is of.
    const strangers = await tools.register(key as never, [
      applicant({ id_number: STRANGER, phone: toPhone('+573005559999') }),
    ]);
    await tools.json('application', 'list', '--id-number', STRANGER);
    assert.ok(later.includes(strangers[0] as number));
    const { out } = await tools.run(...ERASE);
    told.push(out.split('\n')[0]!);
    assert.equal((await tools.json('application', 'list', '--id-number', STRANGER)).length, 1);
  });
  await restoreTo(undefined);
  await onStore(async (tools) => {
    assert.equal((await tools.json('application', 'list', '--id-number', STRANGER)).length, 1);
  });

  const inBetween = await restoreTo(between);
  assert.deepEqual([inBetween.erased.erasures, inBetween.erased.applications], [2, 2]);
  await onStore(async (tools) => {
    await isGone(tools, [...ids, ...later]);
    assert.equal((await tools.json('suppression', 'list')).length, 4);
  });
  const FOUND = 'Found 2 applications, with the ID number in 2 spellings.';
  assert.deepEqual(told, [
    ...[FOUND, FOUND],
    'Nothing of this person is stored, but perhaps a suppression of the phone.',
  ]);
});
