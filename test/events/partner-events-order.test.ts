/** Partner events are gapless and in the order of their commits, whatever happens at once (D41). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ApplicationId, toApplicationId } from '../../src/domain/application/ids.ts';
import type { PartnerEvent } from '../../src/domain/event/event.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { moveApplication } from '../../src/subjects/applications/sql/applications.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { readEventPage } from '../../src/subjects/events/sql/partner-events.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);

const PARTNERS = 3;
const APPLICATIONS = 40;
let serial = 3_300_000_000;

interface Lead {
  readonly id: ApplicationId;
  readonly partnerId: PartnerId;
  readonly phone: string;
}

async function newPartner(name: string): Promise<{ partnerId: PartnerId; leads: Lead[] }> {
  const { id: partnerId } = await json('partner', 'add', '--name', name, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partnerId}`);
  const phones = Array.from({ length: APPLICATIONS }, () => `+57${++serial}`);
  const ids = await register(
    key,
    phones.map((phone) => applicant({ phone: toPhone(phone), ...IN_REVIEW })),
  );
  return {
    partnerId,
    leads: ids.map((id, at) => ({ id: toApplicationId(id), partnerId, phone: phones[at]! })),
  };
}

/** Asks for pages, as a client does, until `isOver` and the end of the feed. Fails at the first gap. */
async function follow(partnerId: PartnerId, isOver: () => boolean): Promise<PartnerEvent[]> {
  const seen: PartnerEvent[] = [];
  for (let turn = 0; ; turn += 1) {
    const last = isOver();
    const page = await readEventPage(
      { database, vault, clock: machineClock },
      partnerId,
      seen.length,
      [1, 3, 50][turn % 3]!,
    );
    assert.ok(page !== null);
    for (const event of page.events) {
      assert.equal(event.number, seen.length + 1, `partner ${partnerId}: a gap or another order`);
      seen.push(event);
    }
    assert.equal(page.next, seen.length);
    if (last && !page.hasMore) return seen;
  }
}

/** Everything in an order of chance. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

const context = { ...store, actor: 'ana' };
const tapOf = ({ id, phone }: Lead) => ({
  kind: 'tap' as const,
  payload: interestPayload(id),
  title: null,
  contextMessageId: null,
  from: toPhone(phone),
  at: new Date(),
});

it('D41: events of reviews and taps at once come without gaps, in the order of commits, to a reader that polls meanwhile', async () => {
  const partners = await Promise.all(
    Array.from({ length: PARTNERS }, (_, index) => newPartner(`Partner ${index}`)),
  );
  const leads = partners.flatMap((partner) => partner.leads);

  const works: (() => Promise<unknown>)[] = [
    ...leads.map(
      (lead) => () => reviewApplication(context, lead.id, 'approve', 'fine', 'documents_verified'),
    ),
    ...leads.map((lead) => () => reviewApplication(context, lead.id, 'reject', 'no', 'offer_expired')),
    // Taps on applications of several partners in one transaction.
    ...leads.map(
      (lead) => () => applyChannelEvents(store, shuffled([lead, ...shuffled(leads).slice(0, 8)]).map(tapOf)),
    ),
    // Events that are undone leave no hole.
    ...leads.map(
      (lead) => () =>
        inTransaction(database, async (session) => {
          await session.query(
            `SELECT add_partner_events('application.interested', $1, $2, NULL, NULL, NULL, NULL)`,
            [leads.map(({ partnerId }) => partnerId), leads.map(({ id }) => id)],
          );
          throw new Error(`undone ${lead.id}`);
        }),
    ),
  ];
  let over = false;
  const readers = partners.map(({ partnerId }) => follow(partnerId, () => over));
  const queue = shuffled(works);
  const outcomes: PromiseSettledResult<unknown>[] = [];
  const session = async () => {
    for (let work = queue.pop(); work !== undefined; work = queue.pop()) {
      outcomes.push(...(await Promise.allSettled([work()])));
    }
  };
  await Promise.all(Array.from({ length: 6 }, session));
  over = true;

  // An approval after a rejection is refused; the undone ones fail as they should. Nothing else fails.
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [`${outcome.reason}`] : [],
  );
  const unexpected = failures.filter((text) => !/undone|cannot be approved/.test(text));
  assert.deepEqual(unexpected, []);

  const feeds = await Promise.all(readers);
  for (const [index, feed] of feeds.entries()) {
    const partner = partners[index]!;
    const { rows } = await database.query('SELECT last FROM partner_event_totals WHERE partner_id = $1', [
      partner.partnerId,
    ]);
    assert.equal(feed.length, Number(rows[0].last));
    for (const lead of partner.leads) {
      const own = feed.filter(({ applicationId }) => applicationId === lead.id);
      assert.equal(own.filter(({ type }) => type === 'application.interested').length, 1);
      // The events of an application have the order of its history.
      const moves = own.flatMap((event) =>
        event.type === 'application.status_changed' ? [[event.from, event.to, event.reasonCode]] : [],
      );
      const { rows: history } = await database.query(
        `SELECT from_status, to_status, reason_code FROM application_events
        WHERE application_id = $1 AND action <> 'interested' ORDER BY id`,
        [lead.id],
      );
      assert.deepEqual(
        moves,
        history.map((row) => [row.from_status, row.to_status, row.reason_code]),
      );
      assert.ok(moves.length === 1 || moves.length === 2);
    }
  }
});

it('D41: while a transaction with an event is open, no later event of the partner is seen, and other partners go on', async () => {
  const [slow, other] = [await newPartner('Slow'), await newPartner('Other')];
  const reject = (id: ApplicationId) =>
    moveApplication(database, id, {
      from: ['in_review'],
      to: 'rejected',
      actor: 'ana',
      action: 'reject',
      reason: 'no',
      reasonCode: 'offer_expired',
    });
  let second: Promise<unknown> = Promise.resolve();
  await inTransaction(database, async (session) => {
    await session.query(
      `SELECT add_partner_events('application.interested', $1, $2, NULL, NULL, NULL, NULL)`,
      [[slow.partnerId], [slow.leads[0]!.id]],
    );
    second = reject(slow.leads[1]!.id);
    await reject(other.leads[0]!.id);
    assert.deepEqual(
      (await readEventPage({ database, vault, clock: machineClock }, slow.partnerId, null, 10))?.events,
      [],
    );
    assert.equal(
      (await readEventPage({ database, vault, clock: machineClock }, other.partnerId, null, 10))?.events
        .length,
      1,
    );
  });
  await second;
  const page = await readEventPage({ database, vault, clock: machineClock }, slow.partnerId, null, 10);
  assert.deepEqual(
    page?.events.map(({ number, applicationId }) => [number, applicationId]),
    [
      [1, slow.leads[0]!.id],
      [2, slow.leads[1]!.id],
    ],
  );
});
