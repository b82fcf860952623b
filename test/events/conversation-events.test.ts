/** The events of conversations come to partners that ask for them, and change nothing for the others (D47). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { type PartnerEventType, UNASKED_EVENT_TYPES } from '../../src/domain/event/event.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import {
  addConversationEvents,
  type NewConversationEvent,
} from '../../src/subjects/events/sql/conversation-events.ts';
import { readEventPage } from '../../src/subjects/events/sql/partner-events.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store, { ENDPOINT_HOSTS: 'localhost' });
const register = await registrarOf(store);

let serial = 3_710_000_000;

/** A partner with one application, and the ways to make its events. */
async function aPartner() {
  const { id: partnerId } = await json('partner', 'add', '--name', `P${++serial}`, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partnerId}`);
  const [id] = await register(key, [applicant({ phone: `+57${serial}` as never, ...IN_REVIEW })]);
  const applicationId = toApplicationId(id as number);
  const tell = (...events: Pick<NewConversationEvent, 'event' | 'outcome'>[]) =>
    inTransaction(database, (session) =>
      addConversationEvents(
        session,
        events.map((event) => ({ ...event, partnerId, applicationId })),
      ),
    );
  const interest = () =>
    database.query("SELECT add_partner_events('application.interested', $1, $2, NULL, NULL, NULL, NULL)", [
      [partnerId],
      [applicationId],
    ]);
  /** All pages of a view, as a client reads them. */
  const view = async (limit: number, types?: readonly PartnerEventType[]) => {
    const seen: string[] = [];
    for (let after: number | null = null; ; ) {
      const page = await readEventPage(
        { database, vault, clock: machineClock },
        partnerId,
        after,
        limit,
        types === undefined ? {} : { types },
      );
      assert.ok(page !== null && (page.events.length > 0 || !page.hasMore));
      seen.push(...page.events.map(({ type }) => type));
      after = page.next;
      if (!page.hasMore) return { seen, after };
    }
  };
  return { partnerId, tell, interest, view };
}

describe('the feed (D47)', () => {
  it('has the events of conversations where types name them, and each view has no gaps whatever the page', async () => {
    const { tell, interest, view } = await aPartner();
    await tell({ event: 'conversation.started' });
    await interest();
    await tell({ event: 'documents.received' }, { event: 'income.verified', outcome: 'adjusted' });
    await interest();
    await tell({ event: 'conversation.ended', outcome: 'declined' });
    for (const limit of [1, 2, 500]) {
      assert.deepEqual((await view(limit)).seen, ['application.interested', 'application.interested']);
      assert.deepEqual((await view(limit, ['conversation.started', 'conversation.ended'])).seen, [
        'conversation.started',
        'conversation.ended',
      ]);
      const { seen } = await view(limit, [...UNASKED_EVENT_TYPES, 'income.verified']);
      assert.deepEqual(seen, ['application.interested', 'income.verified', 'application.interested']);
    }
  });

  it('a cursor at the end of one view misses nothing of the same view later', async () => {
    const { partnerId, tell, interest, view } = await aPartner();
    await tell({ event: 'conversation.started' });
    const { seen, after } = await view(10);
    assert.deepEqual(seen, []);
    await interest();
    await tell({ event: 'conversation.ended', outcome: 'closed' });
    const page = await readEventPage({ database, vault, clock: machineClock }, partnerId, after, 10);
    assert.deepEqual(
      page?.events.map(({ type }) => type),
      ['application.interested'],
    );
  });

  it('tells outcomes and nothing else', async () => {
    const { partnerId, tell } = await aPartner();
    await tell({ event: 'income.verified', outcome: 'confirmed' }, { event: 'contract.signed' });
    const page = await readEventPage({ database, vault, clock: machineClock }, partnerId, null, 10, {
      types: ['income.verified', 'contract.signed'],
    });
    assert.deepEqual(
      page?.events.map((event) => ('outcome' in event ? event.outcome : null)),
      ['confirmed', null],
    );
  });
});

describe('the push (D47)', () => {
  const waiting = async (partnerId: number) =>
    (
      await database.query<{ type: string }>(
        'SELECT e.type FROM pushes q JOIN partner_events e USING (partner_id, number) WHERE partner_id = $1 ORDER BY number',
        [partnerId],
      )
    ).rows.map(({ type }) => type);

  it('goes to an endpoint that asks for it, and a later set leaves the choice as it is', async () => {
    const { partnerId, tell, interest } = await aPartner();
    const set = (...more: string[]) =>
      json('partner', 'endpoint', 'set', `${partnerId}`, '--url', 'https://localhost/events', ...more);
    assert.equal((await set()).conversation_events, false);
    await tell({ event: 'conversation.started' });
    await interest();
    assert.deepEqual(await waiting(partnerId), ['application.interested']);
    assert.equal((await set('--conversation-events')).conversation_events, true);
    assert.equal((await set()).conversation_events, true);
    await tell({ event: 'contract.signed' }, { event: 'conversation.ended', outcome: 'signed' });
    assert.deepEqual(await waiting(partnerId), [
      'application.interested',
      'contract.signed',
      'conversation.ended',
    ]);
    assert.equal((await set('--no-conversation-events')).conversation_events, false);
    await tell({ event: 'contract.withdrawn' });
    assert.equal((await waiting(partnerId)).length, 3);
  });

  it('a resend follows the same choice', async () => {
    const { partnerId, tell, interest } = await aPartner();
    await tell({ event: 'conversation.started' });
    await interest();
    await json('partner', 'endpoint', 'set', `${partnerId}`, '--url', 'https://localhost/events');
    await json('event', 'resend', '--partner', `${partnerId}`, '--since', '2026-01-01T00:00:00Z');
    assert.deepEqual(await waiting(partnerId), ['application.interested']);
  });
});
