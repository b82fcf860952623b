/** What an operator sends again after a lost answer counts once, and gets the first answer (D48). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { leadRoutes } from '../../src/subjects/desk/routes/lead.ts';
import { noteRoutes } from '../../src/subjects/desk/routes/notes.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import type { Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { proposalDesk } from '../support/proposals.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store, {
  lookShare: 1,
  more: (context) => [
    ...leadRoutes(context),
    ...noteRoutes(context),
    ...queueRoutes({ ...context, dueHours: 24, terms: async () => null }),
    ...pendRoutes({ ...context, dueHours: 24, terms: async () => null }),
  ],
});
const ruth = await desk.operator('ruth');
const rob = await desk.operator('rob');
const newcomer = await desk.operator('nina', 'reviewer', null);
const adam = await desk.operator('adam', 'admin');

type Send = () => ReturnType<Visitor['ask']>;

const acts = async (id: number): Promise<string[]> =>
  (await desk.json('audit', 'list', '--application', `${id}`)).map(({ act }: { act: string }) => act);
const count = async (table: 'application_notes' | 'pends', id: number): Promise<number> =>
  (await database.query(`SELECT FROM ${table} WHERE application_id = $1`, [id])).rowCount ?? 0;
const note = (visitor: Visitor, id: number, text: string, key: string) =>
  visitor.ask('POST', `/api/applications/${id}/notes`, { text }, { 'Idempotency-Key': key });
const reveal = (visitor: Visitor, id: number, reason: string, key: string) =>
  visitor.ask('POST', `/api/applications/${id}/reveal`, { reason }, { 'Idempotency-Key': key });
const claimNext = (visitor: Visitor, key: string, body: object = { order: 'oldest' }) =>
  visitor.ask('POST', '/api/review-queue/claim-next', body, { 'Idempotency-Key': key });
const claimsOf = async ({ id }: { id: number }): Promise<number> =>
  (await database.query('SELECT FROM review_items WHERE claimed_by = $1', [id])).rowCount ?? 0;
const PEND = { missing: ['explanation'], message: null, hours: 48 };
const pend = (visitor: Visitor, id: number, body: object, last: string, key: string) =>
  visitor.ask('POST', `/api/applications/${id}/pend`, body, {
    'If-Match': `"${last}"`,
    'Idempotency-Key': key,
  });

/** Each has what is to be sent, and the application whose acts are counted. */
const CASES: Record<string, () => Promise<{ id: number; send: Send }>> = {
  'a note': async () => {
    const [id] = await desk.register();
    const key = randomUUID();
    return { id: id!, send: () => note(ruth.visitor, id!, 'asked for the statement', key) };
  },
  'a pend': async () => {
    const [id] = await desk.register();
    const last = await desk.lastEvent(id!);
    const key = randomUUID();
    return { id: id!, send: () => pend(ruth.visitor, id!, PEND, last, key) };
  },
  'a reading': async () => {
    const [id] = await desk.register();
    const key = randomUUID();
    return { id: id!, send: () => reveal(ruth.visitor, id!, 'she called about it', key) };
  },
  'the end of a pend': async () => {
    const [id] = await desk.register();
    await pend(ruth.visitor, id!, PEND, await desk.lastEvent(id!), randomUUID());
    return { id: id!, send: () => ruth.visitor.ask('POST', `/api/applications/${id}/resume`, {}) };
  },
  'an undo': async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(ruth.visitor, id!);
    return { id: id!, send: () => desk.act(ruth.visitor, proposal, 'undo') };
  },
  'a confirmation': async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(newcomer.visitor, id!);
    return { id: id!, send: () => desk.act(ruth.visitor, proposal, 'confirm') };
  },
  'a refusal to confirm': async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(newcomer.visitor, id!);
    return { id: id!, send: () => desk.act(ruth.visitor, proposal, 'decline', { reason: 'too much' }) };
  },
  'a second look': async () => {
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(ruth.visitor, id!);
    await desk.applyAll();
    const body = { agrees: true, note: 'so would I' };
    return { id: id!, send: () => adam.visitor.ask('POST', `/api/second-looks/${proposal}`, body) };
  },
};

describe('what is sent again', () => {
  for (const [name, prepare] of Object.entries(CASES)) {
    it(`counts once and gets the first answer: ${name}`, async () => {
      const { id, send } = await prepare();
      const before = await acts(id);
      const first = await send();
      assert.equal(first.status, 200, JSON.stringify(first.body));
      const once = await acts(id);
      assert.ok(once.length - before.length <= 1);
      const second = await send();
      assert.deepEqual([second.status, second.body], [200, first.body]);
      assert.deepEqual(await acts(id), once);
      assert.ok((await count('application_notes', id)) <= 1);
      assert.ok((await count('pends', id)) <= 1);
    });

    it(`counts once at the same moment: ${name}`, async () => {
      const { id, send } = await prepare();
      const before = (await acts(id)).length;
      const three = () => Promise.all([send(), send(), send()]);
      const answers = await besideLock(database, 'SELECT FROM operator_events_head FOR UPDATE', three, 3);
      assert.deepEqual(
        answers.map(({ status, body }) => [status, body]),
        Array(3).fill([200, answers[0]!.body]),
      );
      assert.ok((await acts(id)).length - before <= 1);
      assert.ok((await count('application_notes', id)) <= 1);
      assert.ok((await count('pends', id)) <= 1);
    });
  }

  it('is another act with another key, of another operator, and without a key', async () => {
    const [id] = await desk.register();
    await note(ruth.visitor, id!, 'the same', 'note-3');
    await note(ruth.visitor, id!, 'the same', 'note-4');
    await note(rob.visitor, id!, 'the same', 'note-3');
    for (const _ of [1, 2])
      await ruth.visitor.ask('POST', `/api/applications/${id}/notes`, { text: 'the same' });
    assert.equal(await count('application_notes', id!), 5);
  });

  it('is refused where the key was used for something else', async () => {
    const [id, other] = await desk.register(2);
    const last = await desk.lastEvent(id!);
    assert.equal((await note(ruth.visitor, id!, 'one', 'note-5')).status, 200);
    assert.equal((await pend(ruth.visitor, id!, PEND, last, 'pend-4')).status, 200);
    for (const { status, body } of [
      await note(ruth.visitor, id!, 'two', 'note-5'),
      await note(ruth.visitor, other!, 'one', 'note-5'),
      await pend(ruth.visitor, id!, { ...PEND, missing: ['id_document'] }, last, 'pend-4'),
      await pend(ruth.visitor, other!, PEND, await desk.lastEvent(other!), 'pend-4'),
    ]) {
      assert.equal(status, 400);
      assert.match(body.error, /Idempotency-Key was used for another request/);
    }
    assert.deepEqual([await count('application_notes', other!), await count('pends', other!)], [0, 0]);
  });

  it('claims one application, also at the same moment, and another one only where that claim is lost', async () => {
    await desk.register(5);
    const clara = await desk.operator('clara');
    const answers = await Promise.all([1, 2, 3].map(() => claimNext(clara.visitor, 'next-1')));
    const [{ status, body }] = answers as [(typeof answers)[0]];
    assert.deepEqual([status, body.claim.by.login], [200, 'clara']);
    for (const again of [...answers, await claimNext(clara.visitor, 'next-1')])
      assert.equal(again.body.id, body.id);
    assert.equal(await claimsOf(clara), 1);
    assert.equal((await claimNext(clara.visitor, 'next-1', { order: 'score' })).status, 400);
    assert.notEqual((await claimNext(clara.visitor, 'next-2')).body.id, body.id);
    assert.equal(await claimsOf(clara), 2);
    await database.query('UPDATE review_items SET claimed_by = $1 WHERE application_id = $2', [
      rob.id,
      body.id,
    ]);
    const another = await claimNext(clara.visitor, 'next-1');
    assert.notEqual(another.body.id, body.id);
    assert.equal((await claimNext(clara.visitor, 'next-1')).body.id, another.body.id);
    assert.equal(await claimsOf(clara), 2);
  });

  it('counts as a reading of its own for another reason or application, and is refused after ten minutes', async () => {
    const [id, other] = await desk.register(2);
    const why = 'she called about it';
    assert.equal((await reveal(ruth.visitor, id!, why, 'read-1')).status, 200);
    for (const { status, body } of [
      await reveal(ruth.visitor, id!, 'something else', 'read-1'),
      await reveal(ruth.visitor, other!, why, 'read-1'),
    ]) {
      assert.equal(status, 400);
      assert.match(body.error, /Idempotency-Key was used for another request/);
    }
    await database.query(
      "UPDATE desk_requests SET stored_ms = stored_ms - 601000 WHERE request_key = 'read-1'",
    );
    const late = await reveal(ruth.visitor, id!, why, 'read-1');
    assert.equal(late.status, 400);
    assert.match(late.body.error, /older than ten minutes/);
    assert.equal((await reveal(ruth.visitor, id!, why, 'read-2')).status, 200);
    assert.deepEqual(await acts(id!), ['application reveal', 'application reveal']);
    assert.deepEqual(await acts(other!), []);
  });

  it('is refused where another operator did it, or it was something else', async () => {
    const [id, other] = await desk.register(2);
    const { id: proposal } = await desk.proposed(newcomer.visitor, id!);
    await desk.act(ruth.visitor, proposal, 'confirm');
    assert.equal((await desk.act(rob.visitor, proposal, 'confirm')).status, 409);
    assert.equal((await desk.act(ruth.visitor, proposal, 'decline', { reason: 'no' })).status, 409);
    const { id: declined } = await desk.proposed(newcomer.visitor, other!);
    await desk.act(ruth.visitor, declined, 'decline', { reason: 'no' });
    assert.equal((await desk.act(ruth.visitor, declined, 'decline', { reason: 'another' })).status, 409);
    assert.equal((await desk.act(ruth.visitor, declined, 'confirm')).status, 409);
    assert.equal((await desk.act(newcomer.visitor, declined, 'undo')).status, 409);
  });
});
