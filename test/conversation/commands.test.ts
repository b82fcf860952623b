/** What operators do with conversations: each act is recorded, and personal data is masked (D43). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { TERMS } from '../support/terms.ts';

const store = await testDatabase();
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { applicantAt } = await conversationsOf(store, key);
const acts = async (id: number) =>
  (await json('audit', 'list', '--application', `${id}`)).map(({ act }: { act: string }) => act);

it('a list for programs has id, application, step and holder', async () => {
  const ana = await applicantAt();
  await ana.tap();
  const [row] = await json('conversation', 'list', '--json');
  assert.deepEqual(
    [row.application_id, row.step, row.held_by, typeof row.id],
    [ana.id, 'data_consent', 'service', 'number'],
  );
  assert.deepEqual(await json('conversation', 'list', '--held-by', 'operator'), []);
});

it('an operator takes over, writes, gives back and closes', async () => {
  const ana = await applicantAt();
  await ana.tap();
  assert.equal((await json('conversation', 'hand-over', `${ana.id}`)).held_by, 'operator');
  await ana.write('sí');
  assert.equal((await ana.replies()).length, 1, 'the service is silent');
  await json('conversation', 'say', `${ana.id}`, 'Hola, soy Luz.');
  assert.equal((await ana.replies()).at(-1)?.text, 'Hola, soy Luz.');
  assert.equal((await json('conversation', 'give-back', `${ana.id}`)).held_by, 'service');
  assert.match((await ana.replies()).at(-1)?.text ?? '', /^Hola de nuevo[\s\S]*autorizas/);
  await json('conversation', 'hand-over', `${ana.id}`);
  const refused = await run('conversation', 'give-back', `${ana.id}`, '--step', 'contract');
  assert.match(refused.err, /cannot go back to contract/);
  const back = await json('conversation', 'give-back', `${ana.id}`, '--step', 'data_consent');
  assert.deepEqual([back.step, back.held_by], ['data_consent', 'service']);
  assert.equal((await json('conversation', 'close', `${ana.id}`)).step, 'closed');
  assert.deepEqual((await acts(ana.id)).toReversed(), [
    ...['conversation hand-over', 'conversation say', 'conversation give-back'],
    ...['conversation hand-over', 'conversation give-back', 'conversation close'],
  ]);
});

it('D45: the question for the consent names the lender also where a command makes it come again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-commands-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'terms.json'), JSON.stringify(TERMS));
  const withTerms = commandLine(store, { TERMS_FILE: join(folder, 'terms.json') });
  const { lender, privacy_notice: notice, data_rights: rights } = TERMS.countries.CO;
  const ana = await applicantAt();
  await ana.tap();
  await json('conversation', 'hand-over', `${ana.id}`);
  await withTerms.json('conversation', 'give-back', `${ana.id}`);
  const text = (await ana.replies()).at(-1)?.text ?? '';
  assert.match(text, /^Hola de nuevo[\s\S]*autorizas/);
  for (const told of [lender.name, notice, rights]) assert.ok(text.includes(told), `${told}: ${text}`);
});

it('what changes nothing is refused, with the reason', async () => {
  const ana = await applicantAt();
  const refusals: [args: string[], reason: RegExp][] = [
    [['show', `${ana.id}`], /has no conversation/],
    [['give-back', `${ana.id}`], /has no conversation/],
    [['start', '1'], /is not open, or has no phone/],
  ];
  for (const [args, reason] of refusals) assert.match((await run('conversation', ...args)).err, reason);
  await ana.tap();
  const later: [args: string[], reason: RegExp][] = [
    [['give-back', `${ana.id}`], /the service holds it already/],
    [['say', `${ana.id}`, 'x'], /first run conversation hand-over/],
    [['start', `${ana.id}`], /has an open conversation already/],
  ];
  for (const [args, reason] of later) assert.match((await run('conversation', ...args)).err, reason);
  assert.deepEqual(await acts(ana.id), []);
});

it('an operator begins one, also after one that ended; the template asks the person to write', async () => {
  const ana = await applicantAt();
  assert.equal((await json('conversation', 'start', `${ana.id}`)).step, 'started');
  assert.equal((await json('conversation', 'close', `${ana.id}`)).step, 'closed');
  const again = await json('conversation', 'start', `${ana.id}`);
  assert.equal(again.step, 'started');
  await ana.write('hola');
  assert.equal(await ana.place(), 'data_consent service');
});

it('shows what was written only with a reason, and records that', async () => {
  const ana = await applicantAt();
  await ana.tap();
  await ana.write('mi secreto');
  const masked = await json('conversation', 'show', `${ana.id}`);
  assert.doesNotMatch(JSON.stringify(masked), /secreto/);
  const shown = await json('conversation', 'show', `${ana.id}`, '--reveal', '--reason', 'complaint');
  assert.match(JSON.stringify(shown.inputs), /mi secreto/);
  assert.deepEqual(await acts(ana.id), ['conversation show']);
});

it('a text to somebody who wants no messages is refused, also where the opt-out came after the end', async () => {
  const ana = await applicantAt();
  await ana.tap();
  await json('conversation', 'close', `${ana.id}`);
  await ana.write('ASESOR');
  assert.equal(await ana.place(), 'closed operator');
  await json('suppression', 'add', ana.phone);
  const before = (await ana.replies()).length;
  const { code, err } = await run('conversation', 'say', `${ana.id}`, 'Hola');
  assert.deepEqual([code, /wants no messages/.test(err)], [1, true], err);
  assert.equal((await ana.replies()).length, before);
});
