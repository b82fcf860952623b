/**
 * Two messages to one phone arrive at least the pair gap apart; it is not enough that they leave so
 * (docs/messages.md, "Limits").
 */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WhatsAppConfig } from '../../src/app/config/config.ts';
import { readConfig } from '../../src/app/config/config.ts';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../src/subjects/messages/channels/whatsapp.ts';
import { ANSWER_WITHIN_MS } from '../../src/subjects/messages/delivery/sending.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { beginSending } from '../../src/subjects/messages/sql/begin.ts';
import { REJECTED } from '../support/applicant.ts';
import { claimDue, deliveryContext, readyOf } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { answeredBefore, makeDue } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { startWhatsAppApi } from '../support/whatsapp-api.ts';

const service = await testService({}, { upkeep: false });
const { database, vault } = service;
const api = await startWhatsAppApi();
after(() => api.close());
const PAIR_MS = 400;
const limits = {
  messagesPerSecond: null,
  pairMs: PAIR_MS,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};
const never = new AbortController().signal;

const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const whatsapp = whatsappChannel(settings, machineClock, {
  timeoutMs: 1_000,
  maxAnswerBytes: 10_000,
  idleMs: 4_000,
});
/** A request takes up to 300 ms to arrive, each a different time. */
let sends = 0;
const jittery: TemplateChannel = {
  async send(message, signal) {
    sends += 1;
    await sleep(sends % 2 === 1 ? 300 : 0);
    return whatsapp.send(message, signal);
  },
};
const context = deliveryContext(service, jittery, { limits });

/** Each is of another partner: one of the same partner would take the place of the one before (D42). */
async function registerFor(phone: unknown, count: number): Promise<void> {
  for (let one = 0; one < count; one += 1) {
    const { apiKey } = await service.addPartner();
    const application = anApplication({ ...REJECTED, phone });
    const { status } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
    assert.equal(status, 200);
  }
}

const waiting = async () =>
  (
    await database.query(
      "SELECT count(*)::integer AS count FROM messages WHERE status IN ('queued', 'sending')",
    )
  ).rows[0].count as number;

it('six messages to one phone, of which every third loses its answer: the gap holds where they arrive', async () => {
  const arrivals: number[] = [];
  api.onAccept = () => void arrivals.push(performance.now());
  api.fault = () => (arrivals.length % 3 === 1 ? { accept: true, answer: 'never' } : { held: sleep(100) });
  await registerFor(anApplication().phone, 6);
  const underway: Promise<void>[] = [];
  await eventually('all to be told', async () => {
    underway.push((await deliverDue(context, never)).concluded);
    return (await waiting()) === 0;
  });
  await Promise.all(underway);
  assert.equal(arrivals.length, 6);
  const gaps = arrivals.slice(1).map((at, index) => at - (arrivals[index] as number));
  assert.ok(Math.min(...gaps) >= PAIR_MS, `gaps of ${gaps.map(Math.round).join(', ')} ms`);
});

it('while it is unknown whether the first message arrived, the next one waits, at most as long as an answer may take', async () => {
  api.onAccept = null;
  api.fault = null;
  await registerFor(anApplication().phone, 2);
  await claimDue({ database, vault, clock: machineClock }, 1, null, (claimed, claim) =>
    beginSending(claim, readyOf(claimed), null, limits, ANSWER_WITHIN_MS),
  );
  const before = sends;
  for (let look = 0; look < 3; look += 1) {
    await sleep(PAIR_MS);
    await makeDue(database);
    await (await deliverDue(context, never)).concluded;
  }
  assert.equal(sends, before);
  const { rows } = await database.query(
    `SELECT reason, due_at > now() + interval '1 second' AS late FROM messages WHERE status = 'queued'`,
  );
  assert.deepEqual(rows, [{ reason: 'pair_limit', late: false }], 'it is looked at again soon');
  await answeredBefore(database, 1_000);
  await makeDue(database);
  await (await deliverDue(context, never)).concluded;
  assert.equal(sends, before + 1);
});
