/**
 * No opt-out or lift of an operator or an applicant is lost, and the rules say which one holds (D39;
 * docs/messages.md, "Consent").
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type BlindIndex, toApplicationId } from '../../src/domain/application/ids.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { fromBigint, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import {
  addSuppression,
  applyOptOutChanges,
  liftSuppression,
  suppressApplicants,
} from '../../src/subjects/messages/sql/suppressions.ts';
import { SUPPRESSIONS } from '../../src/subjects/messages/sql/tables.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database, vault } = store;

const newPhone = () => fromBigint<'phone'>(randomBytes(8).readBigInt64BE().toString());
const isActive = async (phone: BlindIndex<'phone'>): Promise<boolean> =>
  (await database.query('SELECT FROM suppressions WHERE phone_index = $1 AND active', [toBigint(phone)]))
    .rowCount === 1;

type Word = 'add' | 'remove' | 'stop' | 'resume';
/** By the database's clock (D39), because this process's own clock may differ. */
const START = ((await database.query('SELECT now()')).rows[0].now as Date).getTime();
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Applies an opt-out or a resume; `agoMs` is how long ago by the channel's clock. */
async function say(
  session: Database,
  phoneIndex: BlindIndex<'phone'>,
  word: Word,
  agoMs = 0,
): Promise<unknown> {
  if (word === 'add') return addSuppression(session, phoneIndex);
  if (word === 'remove') return liftSuppression(session, phoneIndex);
  return applyOptOutChanges(session, [
    { phoneIndex, stops: word === 'stop', source: 'keyword', at: new Date(START - agoMs) },
  ]);
}

describe('changes at the same moment', () => {
  it('the last change to commit holds, in the order of the database', async () => {
    await database.query('CREATE TABLE words (n bigint GENERATED ALWAYS AS IDENTITY, phone text, word text)');
    /** The change and a line about it, while no other session can change the phone. */
    const sayAndNote = async (phone: BlindIndex<'phone'>, word: Word) => {
      const client = await database.connect();
      try {
        await client.query('BEGIN');
        const done = await say(client as unknown as Database, phone, word);
        if (word !== 'remove' || done === true) {
          await client.query('INSERT INTO words (phone, word) VALUES ($1, $2)', [phone, word]);
        }
        await client.query('COMMIT');
      } finally {
        client.release();
      }
    };
    const run = fc.asyncProperty(
      fc.array(fc.constantFrom<Word>('add', 'remove', 'remove', 'add'), { minLength: 2, maxLength: 8 }),
      fc.boolean(),
      async (words, known) => {
        const phone = newPhone();
        if (known) await sayAndNote(phone, 'add');
        await Promise.all(words.map((word) => sayAndNote(phone, word)));
        const { rows } = await database.query(
          'SELECT word FROM words WHERE phone = $1 ORDER BY n DESC LIMIT 1',
          [phone],
        );
        assert.equal(await isActive(phone), rows[0]?.word === 'add');
      },
    );
    await fc.assert(run, { numRuns: 150 });
  });

  it('an add that begins after a remove holds, and the other way round, 300 times', async () => {
    const phone = newPhone();
    for (let time = 0; time < 300; time += 1) {
      await say(database, phone, 'add');
      assert.ok(await isActive(phone));
      await say(database, phone, 'remove');
      assert.ok(!(await isActive(phone)));
    }
  });
});

/** The changes of one phone in the order of their arrival, and whether the phone is suppressed after them. */
const STORIES: [story: string, words: [Word, agoMs?: number][], active: boolean][] = [
  ['a stop', [['stop']], true],
  ['a resume of a phone that is not suppressed', [['resume']], false],
  [
    'a stop and a resume of the same time',
    [
      ['resume', DAY],
      ['stop', DAY],
    ],
    true,
  ],
  [
    'a resume that is later than the stop',
    [
      ['stop', 2 * DAY],
      ['resume', DAY],
    ],
    false,
  ],
  [
    'a stop that comes late, older than the resume',
    [
      ['resume', DAY],
      ['stop', 2 * DAY],
    ],
    false,
  ],
  ['a resume after a suppression of an operator', [['add'], ['resume', -MINUTE]], true],
  ['an operator lifts a stop', [['stop', DAY], ['remove']], false],
  ['a stop that was known when the operator lifted', [['stop', MINUTE], ['remove'], ['stop', MINUTE]], false],
  [
    'a stop older than the known one, after the lift',
    [['stop', MINUTE], ['remove'], ['stop', 2 * MINUTE]],
    false,
  ],
  ['an unknown stop from shortly before', [['add'], ['remove'], ['stop', 5 * MINUTE]], true],
  ['an unknown stop from long before', [['add'], ['remove'], ['stop', DAY]], false],
  ['a new stop after the lift', [['stop', DAY], ['remove'], ['stop']], true],
  [
    'a resume in the future does not end a stop',
    [
      ['resume', -400 * DAY],
      ['stop', -10 * MINUTE],
    ],
    true,
  ],
  [
    'a stop in the future does not outlive a resume',
    [['stop', -400 * DAY], ['remove'], ['stop', -401 * DAY]],
    true,
  ],
  ['a lifted one that an operator adds again', [['stop', DAY], ['remove'], ['add']], true],
];

describe('a change of the channel and one of an operator', () => {
  for (const [story, words, active] of STORIES) {
    it(`${story}: ${active ? 'suppressed' : 'not suppressed'}`, async () => {
      const phone = newPhone();
      for (const [word, agoMs] of words) await say(database, phone, word, agoMs);
      assert.equal(await isActive(phone), active);
    });
  }

  it('a lift while the database’s clock was ahead suppresses no phone', async () => {
    const phone = newPhone();
    await say(database, phone, 'add');
    await say(database, phone, 'remove');
    await database.query(
      `UPDATE suppressions SET lifted_at = ${shifted('lifted_at', "interval '25 hours'")} WHERE phone_index = $1`,
      [toBigint(phone)],
    );
    await say(database, phone, 'stop');
    assert.ok(await isActive(phone));
  });

  it('a refusal of the channel suppresses the phone at once, also after a lift', async () => {
    const { json } = commandLine(store);
    const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
    const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
    const phone = '+573005550009';
    const [id] = (await (await registrarOf(store))(key, [applicant({ phone: toPhone(phone) })])) as [number];
    await suppressApplicants(database, [toApplicationId(id)]);
    await json('suppression', 'remove', phone);
    await suppressApplicants(database, [toApplicationId(id)]);
    const index = phoneIndexOf(vault, toPhone(phone));
    assert.ok(await isActive(index));
    // A time in the future counts as now.
    await say(database, index, 'resume', -DAY);
    assert.ok(!(await isActive(index)));
  });
});

it('a lifted suppression is deleted after 30 days that have certainly passed, an active one never', async () => {
  const [lifted, leapt, fresh, kept] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const phones = [lifted, leapt, fresh, kept];
  for (const phone of phones) await say(database, phone, 'add');
  for (const phone of [lifted, leapt, fresh]) await say(database, phone, 'remove');
  const days = 31 * (DAY / 1_000);
  const age = (some: BlindIndex<'phone'>[], what: string) =>
    database.query(`UPDATE suppressions SET ${what} WHERE phone_index = ANY ($1::bigint[])`, [
      some.map(toBigint),
    ]);
  await age([lifted, leapt, kept], `changed_at = ${shifted('changed_at', `${-days} * interval '1 second'`)}`);
  await age([lifted, fresh, kept], `heard_ms = heard_ms - ${days} * 1000::bigint`);
  await forgetRows(database, SUPPRESSIONS);
  const { rows } = await database.query<{ phone: string }>(
    'SELECT phone_index AS phone FROM suppressions WHERE phone_index = ANY ($1::bigint[])',
    [phones.map(toBigint)],
  );
  assert.deepEqual(rows.map(({ phone }) => fromBigint(phone)).sort(), [leapt, fresh, kept].sort());
});
