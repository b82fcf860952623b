/** The chat that is revealed is the one that the applicant saw: messages, titles of choices, files (D43, D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import Value from 'typebox/value';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { Application, Revealed, type RevealedReply } from '../../src/subjects/desk/routes/forms.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const talks = await conversationsOf(store, key);
const desk = await startTestConsole(
  store,
  applicationRoutes({ database: runtime, vault, clock: machineClock, terms: async () => null }),
);
const ruth = await (await desk.enrolled('ruth', 'reviewer')).signIn();

async function revealed(id: number): Promise<RevealedReply> {
  const { status, body } = await ruth.ask('POST', `/api/applications/${id}/reveal`, { reason: 'a call' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(Revealed, body), JSON.stringify([...Value.Errors(Revealed, body)]));
  return body;
}

it('has the announcing message, the title of each choice, and the contract by its name', async () => {
  const ana = await talks.applicantAt({ ...APPROVED, name: 'Ana Luna' });
  await ana.tap();
  const chosen: string[] = [];
  const choose = async (index: number) => {
    const { buttons, list } = (await ana.replies()).at(-1)!;
    const choice = [...buttons, ...(list?.rows ?? [])][index]!;
    chosen.push(choice.title);
    await ana.tap(choice.payload);
  };
  await choose(0);
  await ana.sendFile();
  for (const index of [0, 0, 0]) await choose(index);
  await ana.write('una pregunta');
  assert.equal(await ana.place(), 'contract service');

  const { body } = await ruth.ask('GET', `/api/applications/${ana.id}`);
  assert.ok(Value.Check(Application, body), JSON.stringify([...Value.Errors(Application, body)]));
  const { messages, chat } = await revealed(ana.id);
  assert.deepEqual(
    messages.map(({ id }) => id),
    body.chat.messages.map(({ id }: { id: string }) => id),
  );
  const [message] = messages;
  assert.match(message!.text, /Ana Luna/);
  assert.match(message!.text, /\d[.\d]*\d/, 'the debt');
  assert.ok(message!.choices.length > 0);

  const said = chat.filter(({ from }) => from === 'applicant');
  assert.deepEqual(
    said.map(({ kind, text, file }) => [kind, text, file]),
    [
      ['interest', message!.choices[0], null],
      ['tap', chosen[0], null],
      ['file', null, 'extracto.pdf'],
      ...chosen.slice(1).map((title) => ['tap', title, null]),
      ['text', 'una pregunta', null],
    ],
  );
  for (const title of chosen) assert.match(title, /[a-zá-ú] ?/i);
  assert.ok(
    chosen.every((title) => !/^[a-z_]+$/.test(title)),
    `${chosen}: titles and not codes`,
  );
  const files = chat.filter(({ from, file }) => from === 'service' && file !== null);
  assert.ok(files.length > 0);
  for (const { file } of files) assert.equal(file, 'contrato.pdf');
  assert.deepEqual(talks.faults, []);
  assert.deepEqual(desk.failures, []);
});

it('has none of it where the person is erased', async () => {
  const ana = await talks.applicantAt({ ...APPROVED, name: 'Ana Gone' });
  await ana.tap();
  await json('subject', 'erase', '--phone', ana.phone, '--yes', '--close', '--reason', 'asked');
  const { messages, chat, name } = await revealed(ana.id);
  assert.deepEqual([name, messages, chat], [null, [], []]);
});
