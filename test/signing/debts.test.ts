/** The commands of debts, how long debts stay, and what an erasure leaves (D52; docs/signing.md, "The debts"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { forgetContracts } from '../../src/subjects/signing/sql/dropped.ts';
import { LOAN_DEBTS } from '../../src/subjects/signing/sql/tables.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { database, runtime } = store;
const signing = await testSigning(store);
const { json, run } = signing;
/** An application without debts. */
const begin = () => signing.begin({}, signing.key, []);

const add = (id: ApplicationId, creditor: string, balance: string, ...more: string[]) =>
  json('debt', 'add', `${id}`, '--creditor', creditor, '--balance', balance, ...more);
const list = (id: ApplicationId, ...more: string[]) => json('debt', 'list', `${id}`, ...more);
const creditors = async (id: ApplicationId, ...more: string[]) =>
  (await list(id, ...more)).map(({ creditor }: { creditor: string }) => creditor);
const refusal = async (...args: string[]) => {
  const { code, err } = await run(...args);
  assert.notEqual(code, 0);
  return err;
};
const rowsOf = async (id: ApplicationId) =>
  (await database.query('SELECT * FROM loan_debts WHERE application_id = $1 ORDER BY id', [id])).rows;
const elapse = (days: number) => database.query('UPDATE elapsed SET ms = ms + $1::bigint * 86400000', [days]);
const age = (id: ApplicationId, days: number) =>
  database.query(
    `UPDATE loan_debts SET added_at = ${shifted('added_at', "$2 * interval '-1 day'")} WHERE application_id = $1`,
    [id, days],
  );

describe('an operator mends the list (D52)', () => {
  it('rows have creditor, balance and who told them, in the order of their telling', async () => {
    const id = await begin();
    await add(id, 'Banco Azul', '1500000', '--reference', '4711', '--as-of', '2026-01-31');
    await add(id, 'Nu', '800000', '--as-of', '2026-01-31', '--overdue-since', '2025-12-15');
    const [first, second] = await list(id);
    const { id: one, added_at: _, ...values } = first;
    assert.deepEqual(values, {
      creditor: 'Banco Azul',
      reference: '4711',
      balance: '1500000',
      as_of: '2026-01-31',
      overdue_since: null,
      told_by: 'operator',
      document_id: null,
      added_by: 'ana',
      removed_at: null,
      removed_by: null,
    });
    assert.deepEqual([second.creditor, second.overdue_since], ['Nu', '2025-12-15']);
    await json('debt', 'remove', `${id}`, `${one}`);
    assert.deepEqual(await creditors(id), ['Nu']);
    assert.deepEqual(await creditors(id, '--all'), ['Banco Azul', 'Nu']);
    assert.match(await refusal('debt', 'remove', `${id}`, `${one}`), /has no debt/);
  });

  it('a debt that breaks a rule is refused with its field, and nothing is stored', async () => {
    const id = await begin();
    const refused = (creditor: string, balance: string, ...more: string[]) =>
      refusal('debt', 'add', `${id}`, '--creditor', creditor, '--balance', balance, ...more);
    await add(id, 'Banco Azul', '1500000', '--as-of', '2026-01-31');
    assert.match(await refused('banco azúl', '1500000'), /debts has this debt already/);
    assert.match(await refused('77', '5'), /creditor must/);
    assert.match(await refused('Nu', '0'), /balance must/);
    assert.match(await refused('Nu', '5.50'), /balance must be a whole number/);
    assert.match(await refused('Nu', '1.500.000'), /number such as/);
    assert.match(await refused('Nu', '5', '--currency', 'USD'), /currency must be COP/);
    assert.match(await refused('Nu', '5', '--as-of', '2099-01-01'), /as_of must not be after today/);
    assert.match(
      await refused('Nu', '5', '--as-of', '2026-01-01', '--overdue-since', '2026-02-01'),
      /overdue_since/,
    );
    assert.equal((await rowsOf(id)).length, 1);
  });

  it('what is final or unknown keeps its list', async () => {
    const id = await begin();
    await json('application', 'reject', `${id}`, '--reason', 'over');
    assert.match(await refusal('debt', 'add', `${id}`, '--creditor', 'Nu', '--balance', '5'), /is final/);
    assert.match(await refusal('debt', 'list', '999999'), /no application/);
  });

  it('reading and changing are in the record of acts, without a value', async () => {
    const id = await begin();
    const { id: debt } = await add(id, 'Banco Verde', '77123', '--reason', 'told by phone');
    await list(id);
    const acts = await json('audit', 'list', '--application', `${id}`);
    const told = acts.map(({ act, target, reason }: Record<string, string>) => [act, target, reason]);
    assert.deepEqual(told.slice(0, 2), [
      ['debt list', null, null],
      ['debt add', `debt ${debt}`, 'told by phone'],
    ]);
    assert.doesNotMatch(JSON.stringify(acts), /Verde|77123/);
  });
});

describe('the rows', () => {
  it('are sealed, and opened with another data key after a reseal (D52)', async () => {
    const id = await begin();
    await add(id, 'Banco Azul', '1500000');
    const stored = JSON.stringify(await rowsOf(id), (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
    assert.doesNotMatch(stored, /Azul|1500000/);
    const newer = createHash('sha256').update('newer').digest();
    const next = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[9, newer], ...TEST_SECRETS.dataKeys]) });
    const kind = sealedRows(LOAN_DEBTS);
    const done = await kind.reseal(runtime, next, '');
    assert.equal(done.unopened, 0);
    assert.ok(done.resealed > 0);
    assert.deepEqual([...new Set((await rowsOf(id)).map(({ content }) => content[0]))], [9]);
    const back = new Vault({ ...TEST_SECRETS, dataKeys: new Map([...TEST_SECRETS.dataKeys, [9, newer]]) });
    await kind.reseal(runtime, back, '');
    assert.deepEqual(await creditors(id), ['Banco Azul']);
  });

  it('stay 120 days without a signed contract, longer while the conversation goes on (D52)', async () => {
    const old = await begin();
    await add(old, 'Banco Azul', '1500000');
    const young = await begin();
    await add(young, 'Banco Azul', '1500000');
    await age(old, 121);
    await forgetContracts(runtime, 10);
    assert.equal((await rowsOf(old)).length, 1, 'only the clock says that they are old');
    await elapse(121);
    await forgetContracts(runtime, 10);
    assert.deepEqual([(await rowsOf(old)).length, (await rowsOf(young)).length], [0, 1]);
  });

  it('go with the person (D52)', async () => {
    const id = await begin();
    await add(id, 'Banco Azul', '1500000');
    const shown = await json('application', 'show', `${id}`, '--reveal', '--reason', 'test');
    const [{ loan_debts: debts, debt_texts: texts }] = (
      await json('subject', 'export', '--phone', shown.phone, '--reveal', '--reason', 'asked')
    ).applications;
    assert.deepEqual(
      [debts[0].told_by, texts[0].creditor, texts[0].balance],
      ['operator', 'Banco Azul', '1500000'],
    );
    await json('subject', 'erase', '--phone', shown.phone, '--reason', 'asked', '--close', '--yes');
    assert.deepEqual(await rowsOf(id), []);
    assert.match(
      await refusal('debt', 'add', `${id}`, '--creditor', 'Nu', '--balance', '5'),
      /person is erased/,
    );
  });
});
