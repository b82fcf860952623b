/** The inbox: who waits for a person, and two operators never answer the same one (D43, D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { reminderOf, toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { inboxRoutes } from '../../src/subjects/desk/routes/inbox.ts';
import { Inbox, InboxConversation, type InboxReply } from '../../src/subjects/desk/routes/inbox-forms.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { commandLine } from '../cli/harness.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { TERMS } from '../support/terms.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const talks = await conversationsOf(store, key);
const context = {
  database: runtime,
  vault,
  clock: machineClock,
  terms: async () => checkTerms(TERMS, 'terms.json'),
};
const desk = await startTestConsole(store, [
  ...applicationRoutes(context),
  ...inboxRoutes(context, () => Promise.reject(new Error('no documents'))),
  ...queueRoutes({ ...context, dueHours: 24 }),
  ...pendRoutes({ ...context, dueHours: 24 }),
]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const people = { ruth: await desk.enrolled('ruth', 'reviewer'), rob: await desk.enrolled('rob', 'reviewer') };
const [ruth, rob] = [await people.ruth.signIn(), await people.rob.signIn()];

type Person = Awaited<ReturnType<typeof talks.applicantAt>>;
type Words = Record<string, string>;

/** Somebody at the step for statements who asks for a person. */
async function asking(): Promise<Person> {
  const person = await talks.applicantAt();
  await person.tap();
  await person.choose(0);
  await person.write('asesor');
  assert.equal(await person.place(), 'earnings operator');
  return person;
}
const on = (visitor: Visitor, { id }: { id: number }, act: string, body: object = {}, headers: Words = {}) =>
  visitor.ask('POST', `/api/conversations/${id}/${act}`, body, headers);
const say = (visitor: Visitor, person: Person, text: string, headers: Words = {}) =>
  on(visitor, person, 'messages', { text }, headers);
const next = async (visitor: Visitor, headers: Words = {}): Promise<number | null> => {
  const { status, body } = await visitor.ask('POST', '/api/inbox/claim-next', {}, headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body.application_id;
};
const list = async (query = '') => (await viewer.ask('GET', `/api/inbox${query}`)).body;
const idsOf = ({ conversations }: { conversations: { application_id: number }[] }) =>
  conversations.map(({ application_id: id }) => id);
const texts = async (person: Person) => (await person.replies()).map(({ text }) => text);
const heard = (person: Person, ago: string) =>
  database.query('UPDATE conversations SET heard_at = now() - $2::interval WHERE application_id = $1', [
    person.id,
    ago,
  ]);
const empty = () =>
  database.query(
    "DELETE FROM inbox_claims; UPDATE conversations SET held_by = 'service', waits_since = NULL WHERE held_by = 'operator'",
  );
const actsOf = async ({ id }: Person) =>
  (await json('audit', 'list', '--application', `${id}`)).map(({ act }: { act: string }) => act).toSorted();

describe('the list of the inbox', () => {
  it('has who waits, whose window closes first, and last those whose window is closed', async () => {
    await empty();
    const [late, soon, over, longOver] = [await asking(), await asking(), await asking(), await asking()];
    await heard(soon, '23 hours');
    await heard(over, '25 hours');
    await heard(longOver, '50 hours');
    const all = await list();
    assert.ok(Value.Check(Inbox, all), JSON.stringify([...Value.Errors(Inbox, all)]));
    assert.deepEqual(
      [idsOf(all), all.waiting, all.next],
      [[soon.id, late.id, longOver.id, over.id], 4, null],
    );
    const [first, , third] = all.conversations as InboxReply['conversations'];
    assert.ok(first && third);
    assert.deepEqual(
      [first.step, first.held_by, first.why, first.language, first.unsayable, first.claim],
      ['earnings', 'operator', 'asked', 'es', null, null],
    );
    assert.equal(Date.parse(first.window_until!) - Date.parse(first.heard_at!), 24 * 3_600_000);
    assert.equal(third.unsayable, 'window_closed');
    const pages: number[] = [];
    let cursor = '';
    do {
      const page = await list(`?limit=1${cursor}`);
      pages.push(...idsOf(page));
      cursor = page.next === null ? '' : `&cursor=${page.next}`;
    } while (cursor !== '');
    assert.deepEqual(pages, idsOf(all));
    assert.equal((await viewer.ask('GET', '/api/inbox?cursor=x')).status, 400);
  });

  it('leaves out whom an operator has answered, until the person writes again', async () => {
    await empty();
    const person = await asking();
    assert.equal((await say(ruth, person, 'Hola, soy Ruth')).status, 200);
    assert.deepEqual([idsOf(await list()), idsOf(await list('?state=answered'))], [[], [person.id]]);
    await person.write('gracias, ¿y ahora?');
    assert.deepEqual([idsOf(await list()), idsOf(await list('?state=answered'))], [[person.id], []]);
  });

  it('has the newest conversation of an application alone: operators act on that one', async () => {
    await empty();
    const person = await asking();
    assert.equal((await on(ruth, person, 'close', { reason: 'the person asked' })).status, 200);
    await person.write('asesor');
    assert.deepEqual(idsOf(await list()), [person.id]);
    await json('conversation', 'start', `${person.id}`);
    assert.deepEqual(idsOf(await list()), []);
  });

  it('says why nothing can be said: an opt-out from anywhere, or a wrong number', async () => {
    await empty();
    const [muted, wrong] = [await asking(), await asking()];
    await json('suppression', 'add', muted.phone);
    await wrong.write('número equivocado');
    const { conversations } = await list();
    const of = ({ id }: Person) =>
      conversations.find((one: { application_id: number }) => one.application_id === id);
    assert.deepEqual([of(muted).unsayable, of(wrong).unsayable], ['opted_out', 'wrong_person']);
    for (const [person, code] of [
      [muted, 'opted_out'],
      [wrong, 'wrong_person'],
    ] as const) {
      const said = await texts(person);
      const { status, body } = await say(ruth, person, 'Hola');
      assert.deepEqual([status, body.code, await texts(person)], [409, code, said]);
    }
  });

  it('is for every role, has a tag, and nothing that was written', async () => {
    await empty();
    const person = await asking();
    await person.write('mi secreto es azul');
    const { status, headers, body } = await viewer.ask('GET', '/api/inbox');
    assert.deepEqual([status, JSON.stringify(body).includes('secreto')], [200, false]);
    const tag = headers.get('ETag')!;
    const ask = () => viewer.ask('GET', '/api/inbox', undefined, { 'If-None-Match': tag });
    assert.equal((await ask()).status, 304);
    await person.write('hola');
    assert.equal((await ask()).status, 200);
  });

  it('what changes something needs a reviewer', async () => {
    const person = await asking();
    for (const path of ['claim', 'release', 'messages', 'files', 'remind', 'hand-over', 'give-back', 'close'])
      assert.equal((await on(viewer, person, path)).status, 403, path);
    assert.equal((await viewer.ask('POST', '/api/inbox/claim-next', {})).status, 403);
    for (const id of [999_999, 0])
      assert.equal((await ruth.ask('POST', `/api/conversations/${id}/claim`, {})).status, 404);
  });
});

describe('a claim of a conversation', () => {
  it('claim-next goes through the list, and skips what another operator holds', async () => {
    await empty();
    const [later, sooner, over] = [await asking(), await asking(), await asking()];
    await heard(sooner, '20 hours');
    await heard(over, '30 hours');
    assert.deepEqual(
      [await next(ruth), await next(rob), await next(ruth), await next(rob)],
      [sooner.id, later.id, over.id, null],
    );
    const { body } = await viewer.ask('GET', `/api/conversations/${sooner.id}`);
    assert.ok(
      Value.Check(InboxConversation, body),
      JSON.stringify([...Value.Errors(InboxConversation, body)]),
    );
    assert.equal(body.claim?.by.login, 'ruth');
    assert.equal((await on(ruth, sooner, 'release')).status, 200);
    assert.equal(await next(rob), sooner.id);
  });

  it('the same request again claims the same one', async () => {
    await empty();
    await asking();
    await asking();
    const headers = { 'Idempotency-Key': 'next-1' };
    const first = await next(ruth, headers);
    assert.equal(await next(ruth, headers), first);
    assert.notEqual(await next(rob), first);
  });

  it('of two operators at once one gets it, and the other the next one', async () => {
    await empty();
    const ids = [(await asking()).id, (await asking()).id];
    assert.deepEqual((await Promise.all([next(ruth), next(rob)])).toSorted(), ids);
  });

  it('is refused where another one has it, and lets every act through after its two minutes', async () => {
    await empty();
    const person = await asking();
    await on(rob, person, 'claim');
    for (const [path, body] of Object.entries({
      claim: {},
      messages: { text: 'Hola' },
      'give-back': {},
      close: { reason: 'the person asked' },
    })) {
      const answer = await on(ruth, person, path, body);
      assert.deepEqual(
        [answer.status, answer.body.code, answer.body.by.login],
        [409, 'claimed', 'rob'],
        path,
      );
    }
    assert.equal((await texts(person)).includes('Hola'), false);
    await database.query("UPDATE inbox_claims SET claimed_until = now() - interval '1 second'");
    assert.equal((await say(ruth, person, 'Hola')).status, 200);
  });

  it('of a claim from a clock that was ahead nothing is left (D39)', async () => {
    await empty();
    const person = await asking();
    await on(rob, person, 'claim');
    await database.query("UPDATE inbox_claims SET claimed_until = now() + interval '1 year'");
    assert.equal((await on(ruth, person, 'claim')).status, 200);
  });

  it('a page that closes gives back what no other page uses; a sign-out gives back everything', async () => {
    await empty();
    const person = await asking();
    const page = (n: number) => ({ 'Operator-Page': `00000000-0000-4000-8000-00000000000${n}` });
    await on(ruth, person, 'claim', {}, page(1));
    await on(ruth, person, 'claim', {}, page(2));
    const leave = (n: number) => ruth.ask('POST', '/api/review-queue/leave', {}, page(n));
    await leave(1);
    assert.equal((await on(rob, person, 'claim')).status, 409);
    await leave(2);
    assert.equal((await on(rob, person, 'claim')).status, 200);
    await on(rob, person, 'release');
    assert.equal(await next(ruth, page(2)), null, 'a closed page claims nothing');
    const third = await people.ruth.signIn();
    await on(third, person, 'claim');
    await third.ask('POST', '/api/session/sign-out-everywhere', {});
    assert.equal((await on(rob, person, 'claim')).status, 200);
  });
});

describe('a reply from the inbox', () => {
  it('goes to the person, counts once by its key, and is recorded', async () => {
    await empty();
    const visitor = await people.ruth.signIn();
    const person = await asking();
    const headers = { 'Idempotency-Key': `say-${person.id}` };
    const { status, body } = await say(visitor, person, 'Hola,\nte ayudo', headers);
    assert.deepEqual([status, body.waits_since, body.claim.by.login], [200, null, 'ruth']);
    assert.equal((await say(visitor, person, 'Hola,\r\nte ayudo ', headers)).status, 200);
    assert.equal((await say(visitor, person, 'Otra cosa', headers)).status, 400);
    assert.equal((await texts(person)).filter((text) => text === 'Hola,\nte ayudo').length, 1);
    assert.ok((await actsOf(person)).filter((act: string) => act === 'conversation say').length === 1);
    const { rows } = await database.query('SELECT digest FROM desk_requests WHERE request_key = $1', [
      headers['Idempotency-Key'],
    ]);
    assert.equal(rows.length, 1);
  });

  it('is refused as a whole: a text that is none, a closed window, a conversation of the service', async () => {
    const visitor = await people.ruth.signIn();
    const person = await asking();
    const said = await texts(person);
    for (const text of ['', '  ', 'a\u202eb', 'x'.repeat(1_001)])
      assert.equal((await say(visitor, person, text)).status, 400, text.slice(0, 9));
    await heard(person, '24 hours');
    assert.equal((await say(visitor, person, 'Hola')).body.code, 'window_closed');
    await heard(person, '23 hours');
    await on(visitor, person, 'give-back');
    const own = await texts(person);
    assert.equal((await say(visitor, person, 'Hola')).body.code, 'not_held');
    assert.equal((await on(visitor, person, 'claim')).body.code, 'not_held');
    assert.deepEqual([own.length > said.length, await texts(person)], [true, own]);
    assert.deepEqual(await actsOf(person), ['conversation give-back']);
  });

  it('of two operators at the same moment one answers', async () => {
    const person = await asking();
    const [one, two] = [await people.ruth.signIn(), rob];
    const answers = await besideLock(
      database,
      `SELECT FROM conversations WHERE application_id = ${person.id} FOR UPDATE`,
      () => Promise.all([say(one, person, 'Hola, soy Ruth'), say(two, person, 'Hola, soy Rob')]),
      2,
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    assert.equal((await texts(person)).filter((text) => text.startsWith('Hola, soy')).length, 1);
  });

  it('of an operator whose claim has ended is refused where another one has answered meanwhile', async () => {
    const visitor = await people.ruth.signIn();
    const person = await asking();
    await on(visitor, person, 'claim');
    await database.query("UPDATE inbox_claims SET claimed_until = now() - interval '1 second'");
    assert.equal((await say(rob, person, 'Hola, soy Rob')).status, 200);
    await on(rob, person, 'release');
    assert.equal((await say(visitor, person, 'Hola, soy Ruth')).body.code, 'not_claimed');
    assert.equal((await on(visitor, person, 'claim')).status, 200);
    assert.equal((await say(visitor, person, 'Una cosa más')).status, 200);
  });

  it('an opt-out that comes while it is written stops it, and ends the conversation', async () => {
    const visitor = await people.ruth.signIn();
    const person = await asking();
    await on(visitor, person, 'claim');
    await person.write('STOP');
    assert.equal(await person.place(), 'closed service');
    assert.equal((await say(visitor, person, 'Hola')).status, 409);
  });
});

describe('a reminder from the inbox', () => {
  const remindersOf = async ({ id }: Person) =>
    (
      await database.query("SELECT status FROM messages_of(ARRAY[$1::bigint]) WHERE type = 'reminder'", [
        reminderOf(toApplicationId(id)),
      ])
    ).rows.map(({ status }) => status);

  it('goes once after each message of a person whose window is closed; then nobody waits', async () => {
    await empty();
    const visitor = await people.ruth.signIn();
    const person = await asking();
    const headers = { 'Idempotency-Key': `remind-${person.id}` };
    assert.equal((await on(visitor, person, 'remind')).body.code, 'window_open');
    await heard(person, '24 hours');
    for (let n = 0; n < 2; n += 1) {
      const { status, body } = await on(visitor, person, 'remind', {}, headers);
      assert.deepEqual([status, body.waits_since, body.reminder.status], [200, null, 'queued']);
    }
    assert.deepEqual([idsOf(await list()), await remindersOf(person)], [[], ['queued']]);
    await database.query("UPDATE message_records SET status = 'delivered' WHERE type = 'reminder'");
    assert.equal((await on(visitor, person, 'remind')).body.code, 'reminded');
    assert.deepEqual(await actsOf(person), ['conversation remind']);
    await person.write('sigo aquí');
    assert.deepEqual(idsOf(await list()), [person.id]);
    const { body } = await viewer.ask('GET', `/api/conversations/${person.id}`);
    assert.equal(body.reminder, null);
  });

  it('goes again where it was cancelled or failed: it never reached the person', async () => {
    const visitor = await people.ruth.signIn();
    const person = await asking();
    await heard(person, '30 hours');
    for (const fate of ['cancelled', 'failed']) {
      assert.equal((await on(visitor, person, 'remind')).status, 200, fate);
      await database.query("UPDATE message_records SET status = $1 WHERE type = 'reminder'", [fate]);
    }
  });

  it('does not go to whom nothing may be said, nor where the service speaks or another one answers', async () => {
    const visitor = await people.ruth.signIn();
    const [muted, wrong, closed, own, held] = [
      await asking(),
      await asking(),
      await asking(),
      await asking(),
      await asking(),
    ];
    await json('suppression', 'add', muted.phone);
    await wrong.write('número equivocado');
    await json('application', 'reject', `${closed.id}`, '--reason', 'a reason');
    await on(visitor, own, 'give-back');
    await on(rob, held, 'claim');
    for (const [person, code] of [
      [muted, 'opted_out'],
      [wrong, 'wrong_person'],
      [closed, 'no_reminder'],
      [own, 'not_held'],
      [held, 'claimed'],
    ] as const) {
      await heard(person, '30 hours');
      assert.equal((await on(visitor, person, 'remind')).body.code, code);
      assert.deepEqual(await remindersOf(person), [], code);
    }
  });
});

describe('the end of an answer', () => {
  it('hands over, gives back where it stands, and closes with a reason; each is recorded once', async () => {
    const visitor = await people.ruth.signIn();
    const person = await talks.applicantAt();
    await person.tap();
    const headers = (act: string) => ({ 'Idempotency-Key': `${act}-${person.id}` });
    for (const [act, body, place] of [
      ['hand-over', {}, 'data_consent operator'],
      ['give-back', {}, 'data_consent service'],
      ['close', { reason: 'the person asked' }, 'closed service'],
    ] as const) {
      assert.equal((await on(visitor, person, act, body, headers(act))).status, 200, act);
      assert.equal((await on(visitor, person, act, body, headers(act))).status, 200, `${act} again`);
      assert.equal(await person.place(), place);
      const { body: shown } = await viewer.ask('GET', `/api/conversations/${person.id}`);
      assert.equal(shown.claim === null, act !== 'hand-over', `${act}: the claim`);
    }
    assert.equal((await on(visitor, person, 'close', { reason: 'once more' })).body.code, 'ended');
    assert.equal((await on(visitor, person, 'close', { reason: 'x' })).status, 400);
    assert.deepEqual(await actsOf(person), [
      'conversation close',
      'conversation give-back',
      'conversation hand-over',
    ]);
  });

  it('gives back at an earlier step that the flow has, and at no other one', async () => {
    const visitor = await people.ruth.signIn();
    const person = await asking();
    await on(visitor, person, 'give-back');
    await person.sendFile();
    await person.choose(0);
    assert.equal(await person.place(), 'debts service');
    const { body } = await on(visitor, person, 'hand-over');
    assert.deepEqual(body.steps, ['earnings', 'debts']);
    for (const step of ['summary', 'started', 'data_consent', 'code'])
      assert.equal((await on(visitor, person, 'give-back', { step })).body.code, 'no_step', step);
    assert.equal((await on(visitor, person, 'give-back', { step: 'earnings' })).status, 200);
    assert.equal(await person.place(), 'earnings service');
    assert.deepEqual(desk.failures, []);
  });
});

it('who pends an application with a message does not answer the person whom another operator answers', async () => {
  const person = await asking();
  await on(rob, person, 'claim');
  const { id, last_event: last } = (await viewer.ask('GET', `/api/applications/${person.id}`)).body;
  const visitor = await people.ruth.signIn();
  const pend = (message: string | null) =>
    visitor.ask(
      'POST',
      `/api/applications/${id}/pend`,
      { missing: ['explanation'], message, hours: 1 },
      { 'If-Match': `"${last}"` },
    );
  const { status, body } = await pend('Hola');
  assert.deepEqual([status, body.code, body.by.login], [409, 'claimed', 'rob']);
  assert.equal((await texts(person)).includes('Hola'), false);
  assert.equal((await pend(null)).status, 200);
});
