/** What operators see of conversations: by the store, and by what a process counts. No text of a person is a label. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { foldRows } from '../../src/ground/postgres/fold.ts';
import { eraseConversations } from '../../src/subjects/conversation/sql/retention.ts';
import { CONVERSATION_COUNTS } from '../../src/subjects/conversation/sql/tables.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { DOCUMENT_COUNTS } from '../../src/subjects/documents/sql/tables.ts';
import { ConversationMeters } from '../../src/subjects/monitoring/metrics/conversation-meters.ts';
import { Meters } from '../../src/subjects/monitoring/metrics/meters.ts';
import { StoreSeries } from '../../src/subjects/monitoring/metrics/store-series.ts';
import { readConversationFacts } from '../../src/subjects/monitoring/sql/store-facts.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf, performDue } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { wellFacts } from './facts.ts';
import { numberOf } from './series.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { applicantAt, context, deliver, works, hear, skipPause, settle } = await conversationsOf(store, key);
const facts = () => readConversationFacts(store.runtime);
const waitsSince = async (id: number) =>
  (await json('conversation', 'list')).find((row: { application_id: number }) => row.application_id === id)
    .waits_since;

describe('what the store tells of conversations', () => {
  it('open ones by step and holder, and what waits', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await eva.tap();
    await eva.choose(0);
    await hear(await ana.textEvent('hola'));
    const { open, inputs } = await facts();
    assert.deepEqual(open, [
      { step: 'data_consent', holder: 'service', conversations: 1 },
      { step: 'earnings', holder: 'service', conversations: 1 },
    ]);
    assert.deepEqual([inputs.waiting, inputs.oldestS >= 0], [1, true]);
    await settle();
    assert.equal((await facts()).inputs.waiting, 0);
    await foldRows(store.runtime, CONVERSATION_COUNTS);
    await json('conversation', 'hand-over', `${eva.id}`);
    await json('conversation', 'close', `${ana.id}`);
    assert.deepEqual((await facts()).open, [{ step: 'earnings', holder: 'operator', conversations: 1 }]);
    await inTransaction(store.runtime, (session) =>
      eraseConversations(session, [toApplicationId(eva.id)], []),
    );
    assert.deepEqual((await facts()).open, []);
  });

  it('a conversation waits for an operator from its hand-over to an answer, and again when the person writes', async () => {
    const ana = await applicantAt();
    await ana.tap();
    assert.equal(await waitsSince(ana.id), null);
    await json('conversation', 'hand-over', `${ana.id}`);
    const since = await waitsSince(ana.id);
    assert.ok(since);
    await ana.write('hola');
    assert.equal(await waitsSince(ana.id), since, 'the first of them counts');
    assert.deepEqual(
      (await facts()).held.map(({ reason, conversations }) => [reason, conversations]),
      [['operator', 1]],
    );
    await json('conversation', 'say', `${ana.id}`, 'Hola, soy Luz.');
    assert.equal(await waitsSince(ana.id), null);
    await ana.write('gracias');
    assert.ok(await waitsSince(ana.id));
    await json('conversation', 'give-back', `${ana.id}`);
    assert.equal(await waitsSince(ana.id), null);
    assert.deepEqual((await facts()).held, []);
  });

  it('it waits again also for a message that the channel tells late, or in one second with the one before', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await json('conversation', 'hand-over', `${ana.id}`);
    for (const beforeMs of [0, 60_000]) {
      await json('conversation', 'say', `${ana.id}`, 'Hola, soy Luz.');
      assert.equal(await waitsSince(ana.id), null);
      const heardAt = (await ana.row()).heard_at as Date;
      await hear(await ana.textEvent('hola', new Date(heardAt.getTime() - beforeMs)));
      await settle();
      assert.deepEqual((await ana.row()).heard_at, heardAt);
      assert.ok(await waitsSince(ana.id), `nobody would see the message of ${beforeMs} ms before`);
    }
    await json('conversation', 'close', `${ana.id}`);
  });

  it('what is not the person’s begins no wait', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await hear(await ana.fileEvent());
    await skipPause();
    await takeTurns(context);
    await json('conversation', 'hand-over', `${ana.id}`);
    await json('conversation', 'say', `${ana.id}`, 'Hola, soy Luz.');
    const { turn } = await ana.row();
    await settle();
    assert.ok((await ana.row()).turn > turn, 'the file was read in a turn');
    assert.equal(await waitsSince(ana.id), null);
    await json('conversation', 'close', `${ana.id}`);
  });

  it('work by kind and by why its last try came to nothing; a code of the channel is "other"', async () => {
    await database.query(
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, input_id, reason, queued_at) VALUES
        (77, 1, 1, 'read_document', 901, 'scanner', now() - interval '1 minute'),
        (77, 1, 1, 'read_document', 902, 'scanner', now()), (77, 1, 1, 'make_contract', NULL, 'http_503 +573001112233', now())`,
    );
    const { work } = await facts();
    assert.deepEqual(
      work.map(({ work: kind, reason, waiting }) => [kind, reason, waiting]),
      [
        ['make_contract', 'other', 1],
        ['read_document', 'scanner', 2],
      ],
    );
    assert.ok(work[1]!.oldestS >= 60);
    await database.query('DELETE FROM conversation_work');
  });

  it('documents and their bytes by state follow every change, also after a fold', async () => {
    const add = (state: string, bytes: number | null) =>
      database.query(
        `INSERT INTO documents (application_id, partner_id, purpose, state, bytes) VALUES (1, 1, 'debts', $1, $2)`,
        [state, bytes],
      );
    await add('received', 100);
    await add('received', 50);
    await add('rejected', null);
    await database.query("UPDATE documents SET state = 'accepted' WHERE bytes = 100");
    await foldRows(store.runtime, DOCUMENT_COUNTS);
    await foldRows(store.runtime, DOCUMENT_COUNTS);
    await database.query('DELETE FROM documents WHERE bytes = 50');
    assert.deepEqual((await facts()).documents, [
      { state: 'accepted', documents: 1, bytes: 100 },
      { state: 'received', documents: 0, bytes: 0 },
      { state: 'rejected', documents: 1, bytes: 0 },
    ]);
  });
});

describe('what a process counts of conversations', () => {
  const meters = new Meters();
  const counts = new ConversationMeters(meters);
  const number = async (name: string, labels: Record<string, string> = {}) =>
    numberOf(await meters.registry.metrics(), `ventanilla_${name}`, labels);

  it('turns with their events, and tries of work by result', async () => {
    const ana = await applicantAt();
    const watched = {
      ...context,
      onTaken: ({ results, reminders, tookMs }: Parameters<NonNullable<typeof context.onTaken>>[0]) =>
        counts.turns({
          turns: results.length,
          events: results.flatMap(({ told }) => told),
          reminders,
          tookMs,
        }),
    };
    const turn = async () => {
      await takeTurns(watched);
      await deliver();
    };
    await hear(await ana.tapEvent());
    await turn();
    await hear(await ana.textEvent('sí'));
    await turn();
    // The loan is priced before a document is asked for (D45), which takes a turn.
    await performDue(works, 'others');
    await turn();
    await hear(await ana.fileEvent());
    await skipPause();
    await turn();
    const results: string[] = [];
    const tried = {
      ...works,
      performer: { ...works.performer, readDocument: async () => ({ retryAfterMs: 0, reason: 'channel' }) },
      onTried: (
        one: { work: string },
        result: 'later' | 'done' | 'failed' | 'given_up' | 'gone',
        tookMs: number,
      ) => {
        results.push(result);
        counts.work(one.work, result, tookMs);
      },
    };
    await performDue(tried, 'files');
    assert.deepEqual(results, ['later']);
    assert.deepEqual(
      [
        await number('conversation_turns_total'),
        await number('conversation_events_total', { event: 'conversation.started', outcome: '' }),
        await number('conversation_work_duration_seconds_count', { work: 'read_document', result: 'later' }),
      ],
      [4, 1, 1],
    );
  });

  it('a scrape without the store shows no number of the store', async () => {
    const series = new StoreSeries(meters, '1.2.3');
    series.show(wellFacts());
    assert.equal(await number('conversations', { step: 'earnings', holder: 'service' }), 3);
    assert.equal(await number('documents_bytes', { state: 'accepted' }), 2_000);
    assert.equal(await number('conversations_held_oldest_seconds'), 0);
    series.show(null);
    assert.equal(await number('conversations', { step: 'earnings', holder: 'service' }), undefined);
    assert.equal(await number('conversations_held_oldest_seconds'), undefined);
  });
});
