/** Corrections at the console (docs/subject.md, "Correct"): an admin makes them, and what is personal stays masked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { correctionRoutes } from '../../src/subjects/desk/routes/corrections.ts';
import { Application, Corrected, Revealed } from '../../src/subjects/desk/routes/forms.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const context = { database: runtime, vault, clock: machineClock, terms: async () => null };
const desk = await startTestConsole(store, [...applicationRoutes(context), ...correctionRoutes(context)]);
const ada = await desk.enrolled('ada', 'admin');
const admin = await ada.signIn();
const reviewer = await (await desk.enrolled('ruth', 'reviewer')).signIn();

const [id] = (await register(key, [
  applicant({ ...IN_REVIEW, name: 'Ana Mal', city: 'Cali', phone: toPhone('+573015559901') }),
])) as [number];
const correct = (visitor: Visitor, field: string, value: string, of: number | string = id) =>
  visitor.ask('POST', `/api/applications/${of}/corrections`, { field, value, reason: 'ticket 4711' });
const page = async () => (await reviewer.ask('GET', `/api/applications/${id}`)).body;

describe('a correction at the console', () => {
  it('is an admin’s; the page has it masked, a reveal shows it, and the record names the operator', async () => {
    assert.equal((await correct(reviewer, 'name', 'Ana Bien')).status, 403);
    const { status, body } = await correct(admin, 'name', 'Ana Bien');
    assert.equal(status, 200);
    assert.ok(Value.Check(Corrected, body), JSON.stringify([...Value.Errors(Corrected, body)]));
    await correct(admin, 'income', '4500000');
    const shown = await page();
    assert.ok(Value.Check(Application, shown), JSON.stringify([...Value.Errors(Application, shown)]));
    assert.deepEqual(
      shown.corrections.map(({ at: _, id: __, ...one }) => one),
      [
        { field: 'name', before: null, after: null, decided_with_old_value: false },
        { field: 'income', before: shown.income, after: 4_500_000, decided_with_old_value: true },
      ],
    );
    const { act, by } = shown.timeline.at(-1)!;
    assert.deepEqual([act, by], ['correct', { way: 'operator', id: ada.id, login: 'ada' }]);
    assert.doesNotMatch(JSON.stringify(shown), /Ana|Bien|Mal/);
    const revealed = (await reviewer.ask('POST', `/api/applications/${id}/reveal`, { reason: 'a reason' }))
      .body;
    assert.ok(Value.Check(Revealed, revealed), JSON.stringify([...Value.Errors(Revealed, revealed)]));
    assert.deepEqual(
      [revealed.name, revealed.corrections.map(({ before, after }) => [before, after])],
      ['Ana Bien', [['Ana Mal', 'Ana Bien']]],
    );
    const [, { act: done, by: who }] = await json('audit', 'list', '--application', `${id}`);
    assert.deepEqual([done, who], ['subject correct', `operator ${ada.id}`]);
  });

  it('what is refused names the field and the rule, without the value, and changes nothing', async () => {
    const before = await page();
    for (const [field, value, error] of [
      ['income', '-3', /income must be a number greater than 0/],
      ['city', 'Cali', /city of application \d+ has this value already/],
      ['phone', '+573001112233', /field/],
    ] as const) {
      const { status, body } = await correct(admin, field, value);
      assert.equal(status, 400);
      assert.match(body.error, error);
      assert.ok(!body.error.includes(value), body.error);
    }
    assert.equal((await correct(admin, 'city', 'Neiva', 999_999)).status, 404);
    assert.deepEqual((await page()).corrections, before.corrections);
  });
});
