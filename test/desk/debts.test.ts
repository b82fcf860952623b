/** The debts on the page of an application: declared, told and read side by side, and creditors once revealed (D52). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import Value from 'typebox/value';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { Application, Revealed } from '../../src/subjects/desk/routes/forms.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';

const store = await testDatabase();
const { runtime, vault } = store;
const signing = await testSigning(store);
const desk = await startTestConsole(
  store,
  applicationRoutes({ database: runtime, vault, clock: machineClock, terms: async () => null }),
);
const ruth = await (await desk.enrolled('ruth', 'reviewer')).signIn();

it('has the sums and the balances, and no creditor before a reason is given', async () => {
  const id = await signing.begin({}, signing.key, []);
  await signing.owe(id, 'Banco Esmeralda', '4000000');
  await signing.owe(id, 'Nu', '1700000');
  const { body } = await ruth.ask('GET', `/api/applications/${id}`);
  assert.ok(Value.Check(Application, body), JSON.stringify([...Value.Errors(Application, body)]));
  const { debts, debt_amount: declared } = body;
  assert.deepEqual([declared, debts?.told, debts?.read], [6_000_000, '5700000', '0']);
  assert.deepEqual(
    debts?.list.map((debt: { balance: string; told_by: string }) => [debt.balance, debt.told_by]),
    [
      ['4000000', 'operator'],
      ['1700000', 'operator'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(body), /Esmeralda|4711/);

  const asked = await ruth.ask('POST', `/api/applications/${id}/reveal`, { reason: 'a call' });
  assert.ok(Value.Check(Revealed, asked.body), JSON.stringify([...Value.Errors(Revealed, asked.body)]));
  assert.deepEqual(
    asked.body.debts.map(({ creditor, reference }: { creditor: string; reference: string | null }) => [
      creditor,
      reference,
    ]),
    [
      ['Banco Esmeralda', '4711'],
      ['Nu', '4711'],
    ],
  );
});

it('has an empty list where nobody told debts', async () => {
  const id = await signing.begin({}, signing.key, []);
  const { body } = await ruth.ask('GET', `/api/applications/${id}`);
  assert.deepEqual(body.debts, { told: '0', read: '0', list: [] });
});
