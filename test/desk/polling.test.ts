/** What the page asks for again and again is told with a tag, and is 304 where it is still the same (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inboxRoutes } from '../../src/subjects/desk/routes/inbox.ts';
import { leadRoutes } from '../../src/subjects/desk/routes/lead.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { testDatabase } from '../support/database.ts';
import { proposalDesk } from '../support/proposals.ts';

const store = await testDatabase();
const desk = await proposalDesk(store, {
  lookShare: 1,
  more: (context) => [
    ...leadRoutes(context),
    ...inboxRoutes({ ...context, terms: async () => null }, async () => ({}) as never),
    ...queueRoutes({ ...context, dueHours: 24, terms: async () => null }),
  ],
});
const adam = await desk.operator('adam', 'admin');
const newcomer = await desk.operator('nina', 'reviewer', null);

const WAITS = `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, held_by, waits_since)
  SELECT $1, id, 1, 'in_review', 0, 'operator', now() FROM partners LIMIT 1`;

it('each polled list has a tag, which is another one after a change alone (D48)', async () => {
  const [first, second, third] = await desk.register(3);
  const CHANGES: Record<string, () => Promise<unknown>> = {
    '/review-queue': () => desk.register(),
    '/inbox': async () => {
      const [id] = await desk.register();
      await store.database.query(WAITS, [id]);
    },
    [`/applications/${second}`]: async () => {
      await desk.proposed(newcomer.visitor, second!).then(({ id }) => desk.act(adam.visitor, id, 'confirm'));
      await desk.applyAll();
    },
    '/proposals?list=to_confirm': () => desk.proposed(newcomer.visitor, third!),
    '/proposals?list=mine': () => desk.proposed(adam.visitor, first!),
    '/proposals?list=came_back': async () => {
      const [id] = await desk.register();
      await desk.proposed(adam.visitor, id!);
      await desk.json('application', 'reject', `${id}`, '--reason', 'x', '--as', 'carla');
      await desk.applyAll();
    },
    '/proposals?list=ended': async () => {
      const [id] = await desk.register();
      await desk.proposed(adam.visitor, id!);
      await desk.applyAll();
    },
    '/lead': () => desk.register(),
    '/second-looks': async () => {
      const [id] = await desk.register();
      await desk.proposed((await desk.operator('rob')).visitor, id!);
      await desk.applyAll();
    },
  };
  for (const [path, change] of Object.entries(CHANGES)) {
    const ask = (tag?: string) =>
      adam.visitor.ask('GET', `/api${path}`, undefined, tag === undefined ? {} : { 'If-None-Match': tag });
    const { status, headers } = await ask();
    const tag = headers.get('ETag')!;
    assert.deepEqual([status, tag?.length > 2], [200, true], path);
    const again = await ask(tag);
    assert.deepEqual([again.status, again.body, again.headers.get('ETag')], [304, null, tag], path);
    await change();
    const after = await ask(tag);
    assert.equal(after.status, 200, path);
    assert.notEqual(after.headers.get('ETag'), tag, path);
  }
});
