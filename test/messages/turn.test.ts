/** Delivery on a real database with a channel that answers as the test says (D31, D33; docs/messages.md). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { channelIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { channelNotices } from '../../src/subjects/messages/delivery/records.ts';
import { ANSWER_WITHIN_MS } from '../../src/subjects/messages/delivery/sending.ts';
import { type DeliveryContext, deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { beginSending, type SenderLimits } from '../../src/subjects/messages/sql/begin.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import type { NewPause } from '../../src/subjects/messages/sql/channel-notices.ts';
import { pauseTemplate, resumeSender, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { recordSendResults } from '../../src/subjects/messages/sql/send-results.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { claimDue, deliveryContext, keeping, readyOf } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { answeredBefore, endLeases, makeDue, setAll, setMessages } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { shifted } from '../support/shifted.ts';
import { setStatus } from '../support/stored-applications.ts';
import { untilDone } from '../support/until-done.ts';

// The upkeep would find what is lost before a test does.
const service = await testService({}, { upkeep: false });
const { database, vault } = service;
const NO_LIMITS: SenderLimits = {
  messagesPerSecond: null,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};
const signal = new AbortController().signal;
const { apiKey } = await service.addPartner();
/** Registers applications with a due message each; gives their ids. */
async function register(...applications: Record<string, unknown>[]): Promise<number[]> {
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  return (body as { results: { id: number }[] }).results.map(({ id }) => id);
}

const accepted = (message: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: `wamid.${message.callback}`,
});

/** A context whose channel answers as the test says; `sent` collects the messages that went out. */
function contextOf(
  answer: (message: OutgoingMessage) => SendResult | Promise<SendResult> = accepted,
  changes: Partial<DeliveryContext> = {},
): DeliveryContext & { readonly sent: OutgoingMessage[]; readonly paused: string[][] } {
  const sent: OutgoingMessage[] = [];
  const paused: string[][] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message);
    return answer(message);
  };
  const onPause = ({ what, reason }: NewPause) => paused.push([what, reason]);
  const notices = channelNotices({ ...keeping({ database, clock: machineClock }), onPause });
  return { sent, paused, ...deliveryContext(service, { send }, { notices, ...changes }) };
}

/** A whole turn, with answers and records. Gives the number of claimed messages. */
async function deliver(context: DeliveryContext, signal: AbortSignal): Promise<number> {
  const { claimed, concluded } = await deliverDue(context, signal);
  await concluded;
  return claimed;
}

async function stateOf(id: number | undefined) {
  const { rows } = await database.query(
    `SELECT status, attempts, reason, channel_message_id,
      (extract(epoch FROM due_at - changed_at))::float8 AS due_in
    FROM messages WHERE message_id = $1`,
    [id],
  );
  return rows[0] as {
    status: string;
    attempts: number;
    reason: string | null;
    channel_message_id: string | null;
    /** From its last change on. */
    due_in: number;
  };
}

/**
 * The channel has answered so many messages that its credit is no limit, and late enough for a whole test: five seconds
 * after an answer the credit is small again.
 */
const trustChannel = () =>
  database.query(
    `UPDATE sender SET credit = 1000, alive_at = now() + interval '1 hour', failures = 0, broken_at = NULL, probes = 0, probe_at = NULL`,
  );
beforeEach(trustChannel);

describe('deliverDue', () => {
  it('D33: sends each message once, to its phone, and records the channel id', async () => {
    const application = anApplication({ name: 'Inés Peña' });
    const ids = await register(application, anApplication(), anApplication({ messaging_optin: false }));
    const context = contextOf();
    assert.equal(await deliver(context, signal), 2);
    assert.equal(await deliver(context, signal), 0);
    assert.deepEqual(
      context.sent.map(({ applicationId }) => applicationId),
      ids.slice(0, 2),
    );
    assert.equal(context.sent[0]?.phone, application.phone);
    assert.match(context.sent[0]?.text ?? '', /Inés Peña/);
    const { due_in: _, ...state } = await stateOf(ids[0]);
    assert.deepEqual(state, {
      status: 'accepted',
      attempts: 1,
      reason: null,
      channel_message_id: toBigint(channelIndexOf(vault, `wamid.${ids[0]}.1`)),
    });
  });

  const RESULTS: [result: SendResult, status: string, fromSeconds: number, toSeconds: number][] = [
    [{ kind: 'retry', reason: '1' }, 'queued', 3.5, 8.1],
    [{ kind: 'retry', reason: '1', afterMs: 30_000 }, 'queued', 28, 31],
    [{ kind: 'wait', reason: '1', afterMs: 86_400_000 }, 'queued', 86_390, 86_401],
    [{ kind: 'give_up', reason: '1' }, 'failed', -5, 1],
    [{ kind: 'opted_out', reason: '1' }, 'failed', -5, 1],
    [{ kind: 'uncertain', reason: '1' }, 'uncertain', 3_590, 3_601],
  ];
  for (const [result, status, from, to] of RESULTS) {
    it(`after ${result.kind} the message is ${status}`, async () => {
      const [id] = await register(anApplication());
      await deliver(
        contextOf(() => result),
        signal,
      );
      const state = await stateOf(id);
      assert.deepEqual([state.status, state.reason, state.attempts], [status, '1', 1]);
      assert.ok(state.due_in > from && state.due_in < to, `due in ${state.due_in} s`);
      assert.equal(await deliver(contextOf(), signal), 0, 'nothing goes out again at once');
      await setMessages(database, [id], { status: 'cancelled' });
    });
  }

  it('a message whose retries are used up has failed, with the reason', async () => {
    const [id] = await register(anApplication());
    const context = contextOf(() => ({ kind: 'retry', reason: '131000' }));
    for (let turn = 0; turn < 40 && (await stateOf(id)).status === 'queued'; turn += 1) {
      await makeDue(database, id);
      await trustChannel();
      await deliver(context, signal);
    }
    const { status, reason, attempts } = await stateOf(id);
    assert.deepEqual([status, reason, attempts, context.sent.length], ['failed', '131000', 16, 16]);
    await trustChannel();
    assert.equal((await retryMessages(database, toApplicationId(id as number))).length, 1);
    await deliver(context, signal);
    const again = await stateOf(id);
    assert.deepEqual(
      [again.status, again.attempts],
      ['queued', 17],
      'the operator gives as many tries again',
    );
    await setMessages(database, [id], { status: 'cancelled' });
  });

  it('outside its contact window a message waits until the window opens', async () => {
    const [id] = await register(anApplication());
    const { rows } = await database.query('SELECT extract(epoch FROM now())::float8 / 60 AS minute');
    const minute = Math.ceil(rows[0].minute) + 60;
    const opens = {
      types: new Set(['approved'] as const),
      on: () => [{ start: minute, end: minute + 60 }],
      messagesADay: null,
      dayBegan: () => minute,
    };
    const context = contextOf(accepted, { windows: new Map([['CO', opens]]) });
    await deliver(context, signal);
    const { status, reason, attempts, due_in } = await stateOf(id);
    assert.deepEqual([status, reason, attempts, context.sent.length], ['queued', 'contact_window', 0, 0]);
    assert.ok(due_in > 3_590 && due_in < 3_661);
    await setMessages(database, [id], { status: 'cancelled' });
  });

  it('a phone that opted out gets no more messages', async () => {
    const application = anApplication(REJECTED);
    await register(application);
    await deliver(
      contextOf(() => ({ kind: 'opted_out', reason: '131050' })),
      signal,
    );
    const [later] = await register({ ...application, ...anApplication(), phone: application.phone });
    const context = contextOf();
    await deliver(context, signal);
    const { status, reason } = await stateOf(later);
    assert.deepEqual([status, reason, context.sent.length], ['cancelled', 'suppressed', 0]);
  });

  it('a refused template holds only its own messages, until it is resumed', async () => {
    const [approved] = await register(anApplication());
    const refusing = contextOf(() => ({ kind: 'pause_template', reason: '132015' }));
    await deliver(refusing, signal);
    assert.deepEqual(refusing.paused, [['ventanilla_approved', '132015']]);
    const [second, offer] = await register(anApplication(), anApplication(IN_REVIEW));
    await makeDue(database, approved);
    const context = contextOf();
    await deliver(context, signal);
    assert.deepEqual(
      context.sent.map(({ applicationId }) => applicationId),
      [offer],
    );
    assert.equal((await stateOf(second)).reason, 'template_paused');
    assert.equal(await deliver(context, signal), 0);
    assert.equal(await resumeTemplate(database, 'ventanilla_approved'), true);
    await makeDue(database, approved);
    await deliver(context, signal);
    assert.equal((await stateOf(approved)).status, 'accepted');
    assert.equal((await stateOf(second)).status, 'accepted');
  });

  it('a paused sender sends nothing until it is resumed', async () => {
    const ids = await register(anApplication());
    await deliver(
      contextOf(() => ({ kind: 'pause_sender', reason: '190' })),
      signal,
    );
    ids.push(...(await register(anApplication())));
    await makeDue(database, ids[0]);
    const context = contextOf();
    assert.equal(await deliver(context, signal), 0);
    assert.equal(await resumeSender(database), true);
    assert.equal(await deliver(context, signal), 2);
    assert.equal(context.sent.length, 2);
  });
});

describe('the moment of sending', () => {
  /** The reason of the cancellation; null: the message is sent. */
  const REVIEWS: [
    name: string,
    type: Record<string, unknown>,
    status: ApplicationStatus,
    reason: string | null,
  ][] = [
    ['an approved one that was rejected since', {}, 'rejected', 'application_closed'],
    ['an approved one that was disbursed since', {}, 'disbursed', 'application_closed'],
    ['an offer that was approved since', IN_REVIEW, 'pending_signature', 'replaced'],
    ['an offer that was rejected since', IN_REVIEW, 'rejected', 'application_closed'],
    ['a rejected one', REJECTED, 'rejected', null],
  ];
  for (const [name, changes, status, reason] of REVIEWS) {
    it(`D40: ${name} ${reason === null ? 'is sent' : 'is cancelled'}`, async () => {
      const [id] = await register(anApplication(changes));
      await setStatus(database, [id as number], status);
      const context = contextOf();
      await deliver(context, signal);
      const state = await stateOf(id);
      assert.equal(context.sent.length, reason === null ? 1 : 0);
      assert.deepEqual([state.status, state.reason], [reason === null ? 'accepted' : 'cancelled', reason]);
      // The message that fits the new status.
      await untilDone(async () => (await deliver(contextOf(), signal)) === 0);
    });
  }

  it('D46: one that waited until the contract was signed is cancelled, and none comes in its place', async () => {
    const [id] = await register(anApplication());
    await setStatus(database, [id as number], 'pending_signature');
    await database.query('UPDATE application_states SET signed_at = now() WHERE application_id = $1', [id]);
    const context = contextOf();
    await untilDone(async () => (await deliver(context, signal)) === 0);
    assert.equal(context.sent.length, 0);
    const { status, reason } = await stateOf(id);
    assert.deepEqual([status, reason], ['cancelled', 'replaced']);
  });

  it('two messages to one phone keep the pair gap', async () => {
    const { phone } = anApplication();
    const [first] = await register(anApplication({ ...REJECTED, phone }));
    const another = await service.addPartner();
    const { body } = await post(`${service.url}/PRO`, another.apiKey, {
      applications: [anApplication({ phone })],
    });
    const second = (body as { results: { id: number }[] }).results[0]?.id;
    const context = contextOf(accepted, { limits: { ...NO_LIMITS, pairMs: 600_000 } });
    await deliver(context, signal);
    // The partners take turns, so either message may go out first.
    assert.equal(context.sent.length, 1);
    const waits = [first, second].find((id) => id !== context.sent[0]?.applicationId);
    const { status, reason, due_in } = await stateOf(waits);
    assert.deepEqual([status, reason], ['queued', 'pair_limit']);
    assert.ok(due_in > 590 && due_in <= 600, `${due_in}`);
    await makeDue(database, waits);
    await deliver(context, signal);
    assert.equal(context.sent.length, 1, 'too early still');
    await answeredBefore(database, 601_000);
    await makeDue(database, waits);
    await deliver(context, signal);
    assert.equal((await stateOf(waits)).status, 'accepted');
  });

  it('all workers together keep the rate', async () => {
    await register(...Array.from({ length: 60 }, () => anApplication()));
    const RATE = 20;
    const limits = { ...NO_LIMITS, messagesPerSecond: RATE };
    const contexts = [contextOf(accepted, { limits }), contextOf(accepted, { limits })];
    const total = () => contexts.reduce((sum, context) => sum + context.sent.length, 0);
    for (const [idleSeconds, tokens] of [
      [60, RATE],
      [0.5, RATE / 2],
    ] as const) {
      const before = total();
      const sinceMs = performance.now();
      await database.query(
        "UPDATE sender SET tokens = 0, refilled_at = now() - $1::float8 * interval '1 second'",
        [idleSeconds],
      );
      await Promise.all(contexts.map((context) => deliver(context, signal)));
      // Until the last of the two has begun, the tokens grow.
      const most = tokens + (RATE * (performance.now() - sinceMs)) / 1_000;
      const sent = total() - before;
      assert.ok(sent >= tokens && sent <= Math.min(most, 2 * RATE), `sent ${sent} of ${tokens} to ${most}`);
    }
    await database.query('UPDATE sender SET tokens = -1000, refilled_at = now()');
    assert.equal(await deliver(contexts[0] as DeliveryContext, signal), 0, 'nothing is claimed in vain');
    await setAll(database, ['queued'], { status: 'cancelled' });
  });

  it('a new recipient over the limit of 24 hours waits; known recipients get their messages', async () => {
    await database.query('DELETE FROM recipients');
    const known = anApplication(REJECTED);
    await register(known);
    const limits = { ...NO_LIMITS, recipientsPerDay: 3 };
    const context = contextOf(accepted, { limits });
    await deliver(context, signal);
    await register(...Array.from({ length: 4 }, () => anApplication()), { ...known, id_number: '77' });
    await deliver(context, signal);
    assert.equal(context.sent.length, 1 + 2 + 1);
    const { rows } = await database.query(
      "SELECT count(*)::integer AS count FROM messages WHERE status = 'queued' AND reason = 'daily_recipients'",
    );
    assert.equal(rows[0].count, 2);
    await setAll(database, ['queued'], { status: 'cancelled' });
  });

  it('recipients are counted only near the limit, and every ten seconds at most; old recipients make room', async () => {
    await database.query('DELETE FROM recipients');
    await database.query('UPDATE sender SET recent_phones = NULL');
    // With a second partner a part would be kept for it.
    await database.query('UPDATE api_keys SET revoked_at = now() WHERE id <> 1');
    const counted = async () =>
      (await database.query('SELECT recent_phones::integer AS phones FROM sender')).rows[0].phones;
    const sends = async (count: number, isJustCounted = false) => {
      await register(...Array.from({ length: count }, () => anApplication()));
      if (isJustCounted) await database.query('UPDATE sender SET counted_at = now()');
      const context = contextOf(accepted, { limits: { ...NO_LIMITS, recipientsPerDay: 10 } });
      await deliver(context, signal);
      await setAll(database, ['queued'], { status: 'cancelled' });
      return context.sent.length;
    };
    assert.deepEqual([await sends(4), await counted()], [4, 4]);
    await database.query(`UPDATE recipients SET sent_at = ${shifted('sent_at', "interval '-25 hours'")}`);
    assert.deepEqual([await sends(5), await counted()], [5, 9], 'far from the limit nothing is counted');
    assert.deepEqual([await sends(3, true), await counted()], [1, 10], 'nor again so soon');
    await database.query(`UPDATE sender SET counted_at = ${shifted('counted_at', "interval '-11 seconds'")}`);
    assert.deepEqual([await sends(5), await counted()], [4, 10], 'four have left');
    await database.query(`UPDATE sender SET counted_at = ${shifted('counted_at', "interval '1 hour'")}`);
    await database.query(`UPDATE recipients SET sent_at = ${shifted('sent_at', "interval '-25 hours'")}`);
    assert.deepEqual([await sends(5), await counted()], [5, 5], 'the clock stepped back');
  });
});

describe('a worker that dies', () => {
  it('D33: after the claim: its messages are free again, and another worker sends each once', async () => {
    await register(anApplication());
    const context = contextOf();
    const killed = claimDue({ database, vault, clock: machineClock }, 10, null, async (claimed, claim) => {
      assert.equal(claimed.messages.length, 1);
      await beginSending(claim, readyOf(claimed), null, NO_LIMITS, 60_000);
      assert.equal(await deliver(context, signal), 0, 'the claim holds');
      throw new Error('killed');
    });
    await assert.rejects(killed, /killed/);
    // PostgreSQL takes a moment to end the session.
    await eventually('the claim is gone', async () =>
      (await deliver(context, signal)) === 1 ? 1 : undefined,
    );
    assert.equal(context.sent.length, 1);
  });

  it('D33: after the send began: the message is uncertain, and no worker sends it again', async () => {
    const [id] = await register(anApplication());
    await claimDue({ database, vault, clock: machineClock }, 10, null, (claimed, claim) =>
      beginSending(claim, readyOf(claimed), null, NO_LIMITS, ANSWER_WITHIN_MS),
    );
    assert.equal((await stateOf(id)).status, 'sending');
    assert.equal(await findLost(database, 60_000), 0, 'its time is not over');
    await endLeases(database);
    const context = contextOf();
    assert.equal(await deliver(context, signal), 0);
    assert.equal(await findLost(database, 60_000), 1);
    const { status, reason } = await stateOf(id);
    assert.deepEqual([status, reason], ['uncertain', 'no_record']);
    assert.equal(await deliver(context, signal), 0);
    // A late answer still settles the message.
    await recordSendResults(database, [
      {
        messageId: toMessageId(`${id}`),
        type: 'approved',
        partnerId: toPartnerId(1),
        attempt: 1,
        status: 'accepted',
        channelIndex: channelIndexOf(vault, 'wamid.late'),
        reason: null,
        afterMs: 0,
        signal: 'alive',
      },
    ]);
    assert.equal((await stateOf(id)).status, 'accepted');
    assert.equal(context.sent.length, 0);
  });

  it('D33: many workers at once send every message once', async () => {
    const ids: number[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      ids.push(...(await register(...Array.from({ length: 100 }, () => anApplication()))));
    }
    const contexts = Array.from({ length: 6 }, () => contextOf());
    await Promise.all(
      contexts.map((context) => untilDone(async () => (await deliver(context, signal)) === 0)),
    );
    const sent = contexts.flatMap((context) => context.sent.map(({ applicationId }) => applicationId));
    assert.deepEqual(
      sent.sort((a, b) => a - b),
      ids,
    );
  });

  it('pausing a template twice keeps the first reason', async () => {
    await pauseTemplate(database, 'template_x', '1');
    await pauseTemplate(database, 'template_x', '2');
    const { rows } = await database.query("SELECT reason FROM paused_templates WHERE name = 'template_x'");
    assert.equal(rows[0].reason, '1');
    assert.equal(await resumeTemplate(database, 'template_x'), true);
    assert.equal(await resumeTemplate(database, 'template_x'), false);
  });

  it('D33: a claim that meets another session is repeated, and no message is deferred for it', async () => {
    const [id] = await register(anApplication());
    const conflict = Object.assign(new Error('made at the same moment'), { code: '23505' });
    const claim = claimDue({ database, vault, clock: machineClock }, 10, null, async () => {
      throw conflict;
    });
    await assert.rejects(claim, (error) => error === conflict);
    assert.equal((await stateOf(id)).status, 'queued');
  });
});
