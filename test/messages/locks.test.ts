/**
 * The order of locks (head of `migrations/0004_messages.sql`): no sessions of delivery wait for each other in a
 * circle.
 */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import {
  formatCallback,
  interestPayload,
  type OutgoingMessage,
} from '../../src/domain/message/outgoing-message.ts';
import type { OutgoingReply } from '../../src/domain/message/reply.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { deliverReplies } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { pauseTemplate, resumeSender, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { findLostReplies, mendReplies } from '../../src/subjects/messages/sql/replies/delivery.ts';
import {
  findLost,
  forgetRecipients,
  forgetRejections,
  mendLeap,
} from '../../src/subjects/messages/sql/upkeep.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { assertInStep } from '../support/messages.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { queueReply, replyContext } from '../support/replies.ts';
import { readSources, readSql } from '../support/sources.ts';

/** At least this long, and until enough messages and replies were sent. */
const RUN_MS = 6_000;
const APPLICATIONS = 200;
const REPLIES = 100;
/** More than are used at the same moment. */
const SESSIONS = 20;

const store = await testDatabase();
const { vault } = store;
const database = openPatiently(store.url, SESSIONS);
after(() => database.end());
const { run, json } = commandLine(store);

describe('workers, webhooks, reviews, operators and the upkeep together', () => {
  it('never deadlock', async () => {
    const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
    const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
    const phones = Array.from({ length: APPLICATIONS }, (_, n) => `+573${400_000_000 + n}`);
    const ids = await (await registrarOf(store))(
      key,
      phones.map((phone) => applicant({ phone: toPhone(phone), ...IN_REVIEW })),
    );
    const conflicts: string[] = [];
    const watched = watching(database, conflicts);
    const until = performance.now() + RUN_MS;
    let sends = 0;
    const sentReplies: OutgoingReply[] = [];
    let hasFailed = false;
    const goesOn = () =>
      !hasFailed && (performance.now() < until || sends <= 2 * APPLICATIONS || sentReplies.length <= REPLIES);
    const send = async (message: OutgoingMessage) => {
      sends += 1;
      return resultOf(message);
    };
    const limits = {
      messagesPerSecond: 5_000,
      pairMs: 1,
      recipientsPerDay: 100_000,
      messagesPerPhone: null,
      rejectionsPerPhone: null,
    };
    const worker = async () => {
      const mine = deliveryContext({ database: watched, vault, clock: machineClock }, { send }, { limits });
      const ends: Promise<void>[] = [];
      while (goesOn()) {
        const turn = await deliverDue(mine, new AbortController().signal).catch(unlessTimedOut);
        if (turn) ends.push(turn.concluded);
        if (!turn?.claimed) await sleep(2);
      }
      await Promise.all(ends);
    };
    const repeatedly = async (act: (n: number) => Promise<unknown>) => {
      for (let n = 0; goesOn(); n += 1) await act(n).catch(unlessTimedOut);
    };
    const webhook = (salt: number) =>
      repeatedly((n) =>
        applyChannelEvents(
          { database: watched, vault },
          eventsOf(shuffled(ids, n * 7 + salt).slice(0, 40), phones, ids, n),
        ),
      );
    const replyChannel = {
      markRead: async () => {},
      sendReply: async (reply: OutgoingReply): Promise<SendResult> => {
        sentReplies.push(reply);
        return replyResultOf(reply);
      },
    };
    const replyWorker = () => {
      const context = replyContext({ database: watched, vault, clock: machineClock }, replyChannel);
      return repeatedly(async () => {
        const { claimed, concluded } = await deliverReplies(context, new AbortController().signal);
        await concluded;
        if (claimed === 0) await sleep(2);
      });
    };
    const queue = () =>
      repeatedly((n) => {
        const index = n % ids.length;
        const addressee = { id: ids[index] as number, phone: toPhone(phones[index] as string) };
        return queueReply({ database: watched, vault, clock: machineClock }, addressee, n);
      });
    const replyWebhook = (salt: number) =>
      repeatedly((n) =>
        applyChannelEvents({ database: watched, vault }, [
          ...shuffled(sentReplies.slice(-40), n * 5 + salt).map((reply) => replyStatusOf(reply, n)),
          ...eventsOf(shuffled(ids, n * 3 + salt).slice(0, 10), phones, ids, n),
        ]),
      );
    const again = () =>
      watched.query(
        `UPDATE message_records SET status = 'queued', due_at = now(), channel_message_id = NULL WHERE message_id IN (
          SELECT message_id FROM message_records ORDER BY message_id FOR NO KEY UPDATE SKIP LOCKED)`,
      );
    const command = (n: number) => run('message', n % 2 === 0 ? 'retry' : 'cancel', `${ids[n % ids.length]}`);
    const actors = [
      ...[1, 2, 3].map(worker),
      ...[1, 2, 3].map(webhook),
      ...[1, 2].map(replyWorker),
      ...[1, 2].map(replyWebhook),
      queue(),
      repeatedly(async () => {
        await watched.query(
          "UPDATE replies SET due_at = now() WHERE id IN (SELECT id FROM replies WHERE status = 'queued' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)",
        );
        await findLostReplies(watched);
        await mendReplies(watched);
      }),
      repeatedly(again),
      repeatedly(() => resumeSender(watched)),
      repeatedly(async (n) => {
        await pauseTemplate(watched, ['ventanilla_offer', 'other'][n % 2] as string, '1');
        await resumeTemplate(watched, 'ventanilla_offer');
      }),
      repeatedly(command),
      repeatedly((n) =>
        run(
          'application',
          n < APPLICATIONS ? 'approve' : 'reject',
          `${ids[(2 * n) % APPLICATIONS]}`,
          '--reason',
          'x',
        ),
      ),
      repeatedly((n) => run('suppression', n % 2 === 0 ? 'add' : 'remove', phones[n % 20] as string)),
      repeatedly(async () => {
        await findLost(watched, 0);
        await forgetRecipients(watched);
        await forgetRejections(watched);
        await watched.query("UPDATE sender SET latest_at = now() + interval '1 hour'");
        await mendLeap(watched);
      }),
    ];
    // A failure ends the others too, or they would hold the database for ever.
    for (const actor of actors) {
      actor.catch(() => {
        hasFailed = true;
      });
    }
    await Promise.allSettled(actors);
    await Promise.all(actors);
    // A cluster takes some that only wait for a deadlock (docs/scale.md): a busy machine showed three of thousands.
    if (store.isSpread) assert.ok(conflicts.length <= 20, `${conflicts.length} conflicts`);
    else assert.deepEqual(conflicts, []);
    await assertInStep(database);
  });
});

/** On a busy machine a wait may take longer than a statement or its answer may; a deadlock has another code. */
function unlessTimedOut(error: { code?: string; message: string }): void {
  if (error.code !== '57014' && error.message !== 'Query read timeout') throw error;
}

/** The channel's answers to replies. */
function replyResultOf({ callback, attempt }: OutgoingReply): SendResult {
  const kinds: SendResult[] = [
    { kind: 'accepted', channelMessageId: `wamid.${callback}` },
    { kind: 'accepted', channelMessageId: `wamid.${callback}` },
    { kind: 'retry', reason: '1', afterMs: 1 },
    { kind: 'uncertain', reason: 'timeout' },
    { kind: 'pause_sender', reason: '1' },
    { kind: 'opted_out', reason: '1' },
  ];
  return kinds[
    (callback.length + Number(callback.slice(1).split('.')[0]) + attempt) % kinds.length
  ] as SendResult;
}

/** A status of a reply: also a failure that pauses the sender, and one without a callback. */
function replyStatusOf({ callback }: OutgoingReply, n: number): ChannelEvent {
  const status = (['sent', 'delivered', 'failed', 'read'] as const)[n % 4]!;
  return {
    ...{ kind: 'status', channelMessageId: `wamid.${callback}`, status, at: new Date() },
    callback: n % 3 === 0 ? null : callback,
    failure: status === 'failed' ? { kind: 'pause_sender', reason: '1' } : null,
  };
}

/** The channel's answers, with the kinds that lock more rows than the message's. */
function resultOf({ applicationId, attempt }: OutgoingMessage): SendResult {
  const kinds: SendResult[] = [
    { kind: 'accepted', channelMessageId: channelIdOf(applicationId, attempt) },
    { kind: 'retry', reason: '1', afterMs: 1 },
    { kind: 'opted_out', reason: '1' },
    { kind: 'pause_sender', reason: '1' },
    { kind: 'pause_template', reason: '1' },
  ];
  return kinds[Math.floor(Math.random() ** 3 * kinds.length)] as SendResult;
}

function eventsOf(
  some: readonly number[],
  phones: readonly string[],
  ids: readonly number[],
  n: number,
): ChannelEvent[] {
  const at = new Date();
  return some.flatMap((id, index): ChannelEvent[] => {
    const from = phones[ids.indexOf(id)] as string;
    const failed = (index + n) % 3 === 0;
    const failure = failed
      ? ({
          kind: (['pause_sender', 'pause_template', 'opted_out', 'retry'] as const)[index % 4] as 'retry',
          reason: '1',
        } as const)
      : null;
    const status = failed ? 'failed' : 'sent';
    return [
      {
        kind: 'status',
        channelMessageId: channelIdOf(id, n),
        // Without a callback, some events come before the record of their message.
        callback: index % 2 === 0 ? formatCallback(toMessageId(`${id}`), 1 + (n % 3)) : null,
        status,
        at,
        failure,
      },
      {
        kind: 'tap',
        payload: interestPayload(toApplicationId(id)),
        title: 'x',
        contextMessageId: null,
        from: toPhone(from),
        at,
      },
      { kind: 'preference', from: toPhone(from), wants: index % 2 === 0 ? 'stop' : 'resume', at },
    ];
  });
}

/** The channel gives few different ids, so that events without a callback find a message, or come before it. */
function channelIdOf(applicationId: number, count: number): string {
  return `wamid.${applicationId}.${count % 3}`;
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  return items
    .map((item, index) => ({ item, rank: Math.sin((index + 1) * (seed + 1)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** The same database; `conflicts` collects the errors that the code itself would only retry. */
function watching(real: Database, conflicts: string[]): Database {
  const watched = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          const result = value.apply(object, values);
          if (name === 'connect') return result.then(watched);
          if (name === 'query') {
            return result.catch((error: { code?: string }) => {
              if (error.code === '40P01' || error.code === '40001')
                conflicts.push(`${error.code} ${JSON.stringify(values[0]).slice(0, 80)}`);
              throw error;
            });
          }
          return result;
        };
      },
    });
  return watched(real);
}

/** Tables of which one statement may lock several rows. */
const LOCKED =
  /\b(?:UPDATE|DELETE FROM)\s+(application_states|outbox|leases|message_records|waiting_rejections|recipients|suppressions|paused_templates|replies)\b/g;
/**
 * Forms of statements that keep to the order: they lock one row by its key, or rows that they locked in order, or
 * only rows that they do not wait for.
 */
const ORDERLY = [
  /WHERE (?:\w+\.)?(?:id|message_id|phone_index|name) = (?:\$1|w\.|p_phone_index\b|p_id$|v_id$)/,
  /WHERE (?:s\.)?batch_id = batch_of\((?:p_id|\$1)\) AND (?:s\.)?application_id = (?:p_id$|\$1\b)/,
  /ORDER BY (?:\w+\.)?(?:id|message_id|batch_id|phone_index) FOR (?:NO KEY )?UPDATE/,
  /SKIP LOCKED/,
  // In a function that allows only nested loops, which keep the order of the subquery.
  /DELETE FROM recipients p USING \( SELECT .* ORDER BY o\.phone_index \) AS r WHERE/,
  /UPDATE (message_records m|recipients p) SET .* FROM \( ?SELECT .* ORDER BY (g\.id|a\.phone_index) ?\) AS r WHERE/,
];
/** Statements that lock rows which their caller has locked in order already. */
const HELD_BY_CALLER = [
  /^UPDATE message_records m SET due_at = (?:g\.due_at|CASE WHEN g\.reason)/,
  /^UPDATE message_records m SET status = g\.status/,
  /^UPDATE (?:message_records|replies) SET status = 'cancelled', reason = '(?:replaced|wrong_person)'/,
  /^UPDATE replies SET status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END, never_again = true/,
  /^UPDATE recipients r SET sent_at = p_at/,
  // Claims, records and events lock replies first; the upkeep takes those that nobody has locked.
  /^UPDATE replies r SET (?:reason|status) = [gk]\.(?:reason|status),/,
  /^UPDATE replies SET (?:status = 'uncertain'|due_at = \(v_utc)/,
  // The upkeep locks old answers to persons without a conversation, and waits for no lock.
  /^DELETE FROM replies WHERE id = ANY \(\$1::bigint\[\]\)/,
  /^UPDATE replies SET seen_ms = NULL WHERE id = ANY \(\$1::bigint\[\]\)/,
  // An operator's command locks all replies of the application first.
  /^UPDATE replies SET status = '(?:queued', reason = NULL|cancelled', reason = 'operator'), .* WHERE application_id = \$1/,
  // A reminder locks the records of those who have had one.
  /^UPDATE message_records SET status = 'queued', reason = NULL, tries = 0, due_at = v_now/,
  /^DELETE FROM replies r WHERE r\.id = ANY \(v_ids\)/,
  /^DELETE FROM leases l WHERE l\.id = ANY \(v_leases\)/,
  /^DELETE FROM waiting_rejections w USING unnest\(v_phones/,
  // An erasure locks leases, records and recipients first; the rejections are of messages that it has locked.
  /^UPDATE leases l SET ids = k\.ids/,
  /^DELETE FROM leases l WHERE l\.ids && p_message_ids/,
  /^DELETE FROM message_records WHERE message_id = ANY \(nullif\(v_recorded/,
  /^DELETE FROM waiting_rejections w WHERE w\.phone_index = ANY \(p_phones\) AND w\.message_id = ANY \(v_ids\)/,
  /^DELETE FROM recipients r WHERE r\.phone_index = ANY \(p_phones\)/,
];
/**
 * Statements on rows that other sessions hardly ever want: unchanged for a month, in a partition that is deleted, or of
 * a store that no service uses while its blind indexes are made again.
 */
const ALONE = [
  /^UPDATE (?:suppressions|recipients|waiting_rejections|replies) t SET (?:phone_index|channel_message_id) = g\.after FROM/,
  /^UPDATE message_records m SET channel_message_id = g\.index FROM/,
  /^DELETE FROM suppressions s USING unnest\(\$1::bigint\[\], \$2::bigint\[\]\) AS g\(before, after\)/,
  /^DELETE FROM suppressions WHERE NOT active/,
  /^DELETE FROM (?:application_states s|outbox o) WHERE \w\.batch_id >= v_begin/,
];

it('every statement that changes several rows locks them in the order of their key, or does not wait for locks', () => {
  const statements = [
    ...readSources('src').flatMap(({ text }) => statementsOf(text, true)),
    ...readSql().flatMap(({ text }) => statementsOf(text, false)),
  ]
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter((text) => text.match(LOCKED) !== null);
  assert.ok(statements.length > 10, `found only ${statements.length}`);
  const disorderly = statements.filter((text) => {
    const changes = text.slice(text.search(LOCKED));
    return (
      ![...ORDERLY].some((form) => form.test(text)) &&
      ![...HELD_BY_CALLER, ...ALONE].some((form) => form.test(changes))
    );
  });
  assert.deepEqual(disorderly, []);
});

/** Roughly the statements of a file: the literals of a module, or the texts up to each semicolon of a migration. */
function statementsOf(text: string, isModule: boolean): readonly string[] {
  if (!isModule) return text.replace(/--.*$/gm, '').split(/;\s*\n/);
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return (code.match(/`[^`]*`|"[^"\n]*"|'[^'\n]*'/g) ?? []).map((literal) => literal.slice(1, -1));
}
