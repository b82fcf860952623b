/**
 * Few messages go to a channel that fails: after a few answers in a row that say nothing about their message the
 * channel counts as broken, and only probes go out until one gets through (docs/messages.md, "When the channel
 * fails").
 */

import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { WhatsAppConfig } from '../../src/app/config/config.ts';
import { readConfig } from '../../src/app/config/config.ts';
import type { SendResult, TemplateChannel } from '../../src/domain/message/channel.ts';
import { MESSAGE_STATUSES } from '../../src/domain/message/notify.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../src/subjects/messages/channels/whatsapp.ts';
import { messageResults } from '../../src/subjects/messages/delivery/records.ts';
import { type DeliveryContext, deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { type HealthSignal, healthSignal } from '../../src/subjects/messages/rules/after-send.ts';
import type { SenderLimits } from '../../src/subjects/messages/sql/begin.ts';
import { resumeSender } from '../../src/subjects/messages/sql/pauses.ts';
import { noteAnswers, readBreak } from '../../src/subjects/messages/sql/sender-health.ts';
import { commandLine } from '../cli/harness.ts';
import { deliveryContext, keeping } from '../support/delivery-context.ts';
import { makeDue, setAll } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { setStatus } from '../support/stored-applications.ts';
import { errorAnswer, type Fault, startWhatsAppApi } from '../support/whatsapp-api.ts';

const service = await testService({}, { upkeep: false });
const { database } = service;
const { run, json } = commandLine(service);
const { apiKey } = await service.addPartner();
const api = await startWhatsAppApi();
after(() => api.close());
const POST_LIMITS = { timeoutMs: 20_000, maxAnswerBytes: 10_000, idleMs: 4_000 };
const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const whatsapp = whatsappChannel(settings, machineClock, POST_LIMITS);
const LIMITS: SenderLimits = {
  messagesPerSecond: 80,
  pairMs: 0,
  recipientsPerDay: null,
  messagesPerPhone: null,
  rejectionsPerPhone: null,
};
const never = new AbortController().signal;

const HTML: Fault = {
  answer: { status: 500, headers: { 'Content-Type': 'text/html' }, body: '<html>500</html>' },
};

function worker(channel: TemplateChannel, limits = LIMITS): { context: DeliveryContext; heard: string[] } {
  const heard: string[] = [];
  const results = messageResults({
    ...keeping({ database, clock: machineClock }),
    onHealth: (change, reason) => heard.push(`${change} ${reason}`),
  });
  return { context: deliveryContext(service, channel, { limits, results }), heard };
}

/** A channel with these answers, in this order. */
const answering = (...results: SendResult[]): TemplateChannel => ({
  send: async ({ callback }) => results.shift() ?? { kind: 'accepted', channelMessageId: `x.${callback}` },
});

async function turn({ context }: { context: DeliveryContext }): Promise<void> {
  const { concluded } = await deliverDue(context, never);
  await concluded;
}

async function register(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 100) {
    const applications = Array.from({ length: Math.min(100, left) }, () => anApplication());
    const { status } = await post(`${service.url}/PRO`, apiKey, { applications });
    assert.equal(status, 200);
  }
}

async function states(): Promise<Record<string, number>> {
  const { rows } = await database.query(
    'SELECT status, count(*)::integer AS count FROM messages GROUP BY status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const probeIsDue = () => database.query('UPDATE sender SET probe_at = now()');
const becomeDue = () => makeDue(database);
const probePause = async () =>
  (await database.query('SELECT extract(epoch FROM probe_at - now())::float8 AS seconds FROM sender')).rows[0]
    .seconds;

beforeEach(async () => {
  api.fault = null;
  await setAll(database, MESSAGE_STATUSES, { status: 'cancelled' });
  await database.query(
    `UPDATE sender SET tokens = 80, refilled_at = now(), credit = 10, alive_at = NULL, failures = 0, probes = 0,
      paused_at = NULL, broken_at = NULL, probe_at = NULL`,
  );
});

describe('a dead channel', () => {
  // An `uncertain` and a `retry`: `channels/whatsapp.test.ts` has which answers are which.
  const DEATHS: readonly (readonly [name: string, fault: Fault, reason: string])[] = [
    ['closed connections', { answer: 'close' }, 'connection_lost'],
    ['overload', { answer: errorAnswer(130429, 429) }, '130429'],
  ];
  for (const [name, fault, reason] of DEATHS) {
    it(`${name}: four workers together send few messages of a queue of 300`, async () => {
      await register(300);
      api.fault = () => fault;
      const before = api.seen.requests;
      const workers = Array.from({ length: 4 }, () => worker(whatsapp));
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(workers.map(turn));
        await becomeDue();
      }
      const told = api.seen.requests - before;
      assert.ok(told >= 5 && told <= 20, `${told} were told`);
      const { queued = 0, uncertain = 0 } = await states();
      assert.equal(queued + uncertain, 300);
      assert.equal((await readBreak(database))?.reason, reason);
      assert.equal(
        workers.flatMap(({ heard }) => heard).filter((text) => text === `broken ${reason}`).length,
        1,
      );
    });
  }

  it('a channel that dies at full speed gets at most the messages of one more second', async () => {
    await register(500);
    await database.query('UPDATE sender SET credit = 80, alive_at = now()');
    api.fault = () => HTML;
    const before = api.seen.requests;
    for (let round = 0; round < 10; round += 1) {
      await database.query('UPDATE sender SET tokens = 80, refilled_at = now()');
      await turn(worker(whatsapp));
    }
    const told = api.seen.requests - before;
    assert.ok(told <= 81, `${told} were told`);
  });

  it('appears in message count, and ends by itself when the channel works again', async () => {
    await register(30);
    api.fault = () => HTML;
    await turn(worker(whatsapp));
    const { failing } = await json('message', 'count');
    assert.deepEqual([failing.reason, failing.probes], ['http_500', 0]);
    assert.ok(Date.parse(failing.next_probe_at) > Date.parse(failing.since));
    const { out } = await run('message', 'count');
    assert.match(out, /^The channel has failed since [\d-]+ [\d:]+Z, reason http_500: messages wait\.$/m);
    assert.match(
      out,
      /^One message tries the channel at [\d-]+ [\d:]+Z\. All go out once one gets through\.$/m,
    );

    api.fault = null;
    await probeIsDue();
    const one = worker(whatsapp);
    await turn(one);
    assert.deepEqual(one.heard, ['mended null']);
    assert.equal((await json('message', 'count')).failing, null);
    for (let round = 0; round < 10; round += 1) {
      await becomeDue();
      await turn(one);
    }
    const { accepted, uncertain, queued } = await states();
    assert.deepEqual([accepted, uncertain, queued], [20, 10, undefined]);
  });

  it('message resume --sender lets all messages go at once', async () => {
    await register(10);
    await turn(worker(answering(...Array<SendResult>(10).fill({ kind: 'retry', reason: '1' }))));
    assert.notEqual(await readBreak(database), null);
    assert.equal((await run('message', 'resume', '--sender')).code, 0);
    assert.equal(await readBreak(database), null);
    await becomeDue();
    await turn(worker(answering()));
    assert.equal((await states()).accepted, 10);
    assert.equal(await resumeSender(database), false);
  });
});

describe('probes', () => {
  it('go out one at a time, after a pause that doubles up to a quarter of an hour', async () => {
    await register(300);
    await noteAnswers(database, { alive: 0, failing: 5, reason: '1' });
    const pauses = [await probePause()];
    let sent = 0;
    const dead = worker({
      send: async () => {
        sent += 1;
        return { kind: 'uncertain', reason: '1' };
      },
    });
    for (let probe = 1; probe <= 8; probe += 1) {
      await turn(dead);
      await turn(dead);
      assert.equal(sent, probe - 1, 'none before its time');
      await becomeDue();
      await probeIsDue();
      await Promise.all([turn(dead), turn(dead), turn(dead)]);
      assert.equal(sent, probe, 'one, however many workers');
      pauses.push(await probePause());
    }
    const expected = [15, 30, 60, 120, 240, 480, 900, 900, 900];
    for (const [index, pause] of pauses.entries()) {
      const most = expected[index] as number;
      assert.ok(pause > most - 15 && pause <= most, `probe ${index}: ${pause} s of ${most}`);
    }
    assert.equal((await readBreak(database))?.probes, 8);
  });

  it('include a message that may go out, though older ones may not', async () => {
    await register(40);
    const { rows } = await database.query<{ id: string }>(
      `SELECT application_id AS id FROM messages WHERE status = 'queued' ORDER BY due_at, application_id LIMIT 30`,
    );
    const closed = rows.map(({ id }) => Number(id));
    await setStatus(database, closed, 'disbursed');
    await noteAnswers(database, { alive: 0, failing: 5, reason: '1' });
    await probeIsDue();
    await turn(worker(answering()));
    assert.equal((await states()).accepted, 1);
    assert.equal(await readBreak(database), null);
  });

  it('D39: are not delayed by a clock that steps back', async () => {
    await register(1);
    await noteAnswers(database, { alive: 0, failing: 5, reason: '1' });
    await database.query("UPDATE sender SET probe_at = now() + interval '40 hours'");
    await turn(worker(answering()));
    assert.equal((await states()).accepted, 1);
  });
});

describe('an answer about the message, or a send that we cut off, does not break the channel', () => {
  it('says so by its kind and by its reason', () => {
    const SIGNALS: readonly [SendResult, HealthSignal][] = [
      [{ kind: 'give_up', reason: '131026' }, 'alive'],
      [{ kind: 'opted_out', reason: '131050' }, 'alive'],
      [{ kind: 'wait', reason: '131049', afterMs: 86_400_000 }, 'alive'],
      [{ kind: 'pause_recipient', reason: '131056', afterMs: 4_000 }, 'alive'],
      [{ kind: 'uncertain', reason: 'aborted' }, 'none'],
      [{ kind: 'retry', reason: 'aborted' }, 'none'],
      [{ kind: 'uncertain', reason: 'timeout' }, 'failing'],
      [{ kind: 'retry', reason: '130429' }, 'failing'],
    ];
    for (const [result, signal] of SIGNALS)
      assert.equal(healthSignal(result), signal, JSON.stringify(result));
  });

  for (const result of [
    { kind: 'give_up', reason: '131026' },
    { kind: 'uncertain', reason: 'aborted' },
  ] as const) {
    it(`ten times ${result.kind} ${result.reason}`, async () => {
      await register(10);
      let sent = 0;
      const send = async () => {
        sent += 1;
        return result;
      };
      await turn(worker({ send }));
      assert.equal(sent, 10);
      assert.equal(await readBreak(database), null);
    });
  }

  it('five failures in a row break the channel; four do not, nor do failures with other answers between them', async () => {
    const note = (alive: number, failing: number) => noteAnswers(database, { alive, failing, reason: '1' });
    assert.deepEqual(
      [await note(0, 4), await note(1, 4), await note(3, 0), await note(0, 4)],
      [null, null, null, null],
    );
    assert.equal(await note(0, 1), 'broken');
    assert.equal(await note(0, 9), null);
    assert.equal(await note(1, 0), 'mended');
  });
});

it('slow start: each round may be twice as large as the last, up to one second at the rate', async () => {
  await register(400);
  const sizes: number[] = [];
  const one = worker(answering(), { ...LIMITS, messagesPerSecond: 100 });
  for (let round = 0; round < 6; round += 1) {
    // Five seconds after an answer the start would be slow again.
    await database.query(
      "UPDATE sender SET tokens = 100, refilled_at = now(), alive_at = now() + interval '1 hour'",
    );
    const before = (await states()).accepted ?? 0;
    await turn(one);
    sizes.push(((await states()).accepted ?? 0) - before);
  }
  assert.deepEqual(sizes, [10, 20, 40, 80, 100, 100]);
});
