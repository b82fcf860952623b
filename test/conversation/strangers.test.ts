/** Persons without a conversation who write words in place of tapping the offer's button (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pino from 'pino';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { conversationService } from '../../src/subjects/conversation/service.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { isSuppressed } from '../../src/subjects/messages/sql/suppressions.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { outboxOf } from '../support/outbox.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { settle, sweep, applicantAt, person } = await conversationsOf(store, key);
const { sendAll, sentTo } = outboxOf(store);
type Person = Awaited<ReturnType<typeof applicantAt>>;

const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
/** Hears as the service does, and takes the turns that follow. */
async function hear(...events: ChannelEvent[]): Promise<void> {
  const context = { database, vault, clock: machineClock, log, setting: (() => {}) as never };
  await applyChannelEvents(
    { database, vault, hear: async (heard) => void (await conversationService().hear?.(context, heard)) },
    events,
  );
  await settle();
}
const writes = async (one: Person, words: string, at?: Date) => hear(await one.textEvent(words, at));
const linesOf = ({ id }: Person) => lines.filter(({ application_id }) => application_id === id);
const HOUR_MS = 3_600_000;

describe('D43: words in place of the tap on the offer', () => {
  for (const words of ['me interesa', 'hola', 'Sí quiero', 'asesor']) {
    it(`“${words}” gets the offer’s button once, whose tap begins the conversation`, async () => {
      const ana = await applicantAt();
      await writes(ana, words);
      const [reply, ...more] = await ana.replies();
      assert.deepEqual([more, reply?.buttons.length], [[], 1]);
      assert.equal(reply?.buttons[0]?.payload, interestPayload(toApplicationId(ana.id)));
      assert.equal(reply?.buttons[0]?.title, 'Me interesa');
      assert.match(reply?.text ?? '', /Acme/);
      assert.equal(await ana.row(), undefined);
      await writes(ana, 'hola?');
      assert.equal((await ana.replies()).length, 1);
      await hear(await ana.tapEvent(reply?.buttons[0]?.payload));
      assert.equal(await ana.place(), 'data_consent service');
      assert.deepEqual((await ana.events())[0], 'conversation.started');
    });
  }

  it('an operator reads in the log which application it is, and nothing of the person', async () => {
    const ana = await applicantAt(APPROVED);
    await writes(ana, 'hola, soy Ana');
    await writes(ana, 'hola?');
    assert.deepEqual(
      linesOf(ana).map(({ level, did, msg }) => [level, did, msg]),
      [
        [30, 'answered', 'a person without a conversation wrote about an application'],
        [30, 'nothing', 'a person without a conversation wrote about an application'],
      ],
    );
    const all = JSON.stringify(lines);
    assert.ok(!all.includes('Ana') && !all.includes(ana.phone.slice(1)));
  });

  it('who has no open application, no consent or no offer yet gets no answer', async () => {
    const unknown = person(1, toPhone('+573009998877'));
    const silent = await applicantAt({ messaging_optin: false }, false);
    const early = await applicantAt({}, false);
    const closed = await applicantAt();
    await json('application', 'reject', `${closed.id}`, '--reason', 'x');
    for (const one of [unknown, silent, early, closed]) {
      await writes(one, 'hola');
      assert.deepEqual(linesOf(one), []);
    }
    for (const one of [silent, early, closed]) assert.deepEqual(await one.replies(), []);
    assert.ok(lines.some(({ strangers }) => strangers === 1));
  });

  it('nor does whoever opted out, refuses, thanks, or wrote over a day ago', async () => {
    const [out, no, thanks, late] = [
      await applicantAt(),
      await applicantAt(),
      await applicantAt(),
      await applicantAt(),
    ];
    await writes(out, 'BAJA');
    await writes(out, 'hola');
    await writes(no, 'no gracias');
    await writes(thanks, 'gracias');
    const now = await databaseTime(database);
    await writes(late, 'hola', new Date(now.getTime() - 25 * HOUR_MS));
    for (const one of [out, no, thanks, late]) assert.deepEqual(await one.replies(), []);
    await writes(late, 'hola de nuevo');
    assert.equal((await late.replies()).length, 1);
  });

  it('a brand without conversations answers nobody', async () => {
    const { id: other } = await json('key', 'issue', '--partner', `${partner}`);
    await database.query(`UPDATE api_keys SET brand = '{"conversation": false}' WHERE id = $1`, [other]);
    const { applicantAt: at } = await conversationsOf(store, other);
    const ana = await at();
    await writes(ana, 'me interesa');
    assert.deepEqual(await ana.replies(), []);
  });

  it('an answer that did not arrive changes nothing of the conversation that the tap begins', async () => {
    const ana = await applicantAt();
    await writes(ana, 'hola');
    await database.query("UPDATE replies SET status = 'failed' WHERE application_id = $1", [ana.id]);
    await hear(await ana.tapEvent());
    assert.deepEqual(
      [await ana.place(), (await ana.events())[0]],
      ['data_consent service', 'conversation.started'],
    );
  });

  it('two messages at once are answered once', async () => {
    const ana = await applicantAt();
    await Promise.all([writes(ana, 'hola'), writes(ana, 'me interesa')]);
    await hear(await ana.textEvent('hola'), await ana.textEvent('hola'));
    assert.equal((await ana.replies()).length, 1);
  });
});

describe('D43: words that could ask for no more messages, without a conversation', () => {
  const DOUBT = '¿de dónde sacaron mi número?';

  it('are asked back once with two buttons, in the language of the phone; a repeated webhook asks nothing', async () => {
    const ana = await applicantAt();
    const event = await ana.textEvent(DOUBT);
    await hear(event);
    await hear(event);
    await writes(ana, 'otra vez ustedes');
    const [reply, ...more] = await ana.replies();
    assert.deepEqual(more, []);
    assert.deepEqual(reply?.buttons, [
      { title: 'No más mensajes', payload: `stop.${ana.id}` },
      { title: 'Seguir', payload: `go_on.${ana.id}` },
    ]);
    assert.equal(await ana.row(), undefined);
    assert.deepEqual(
      linesOf(ana).map(({ did }) => did),
      ['asked_back', 'nothing', 'nothing'],
    );
  });

  it('the one button stops the messages whatever its title is, the other one and silence change nothing', async () => {
    const [stops, goesOn] = [await applicantAt(), await applicantAt()];
    for (const one of [stops, goesOn]) await writes(one, DOUBT);
    await hear({ ...(await stops.tapEvent(`stop.${stops.id}`)), title: 'Ya no' } as ChannelEvent);
    await hear({ ...(await goesOn.tapEvent(`go_on.${goesOn.id}`)), title: 'Seguir' } as ChannelEvent);
    const phones = await Promise.all(
      [stops, goesOn].map((one) => isSuppressed(database, phoneIndexOf(vault, one.phone))),
    );
    assert.deepEqual(phones, [true, false]);
  });

  it('a payload that only resembles the button’s stops nothing', async () => {
    const ana = await applicantAt();
    for (const payload of ['stop.0', `stop.${ana.id}.x`, `xstop.${ana.id}`, 'stop.1 2'])
      await hear({ ...(await ana.tapEvent(payload)), title: 'Seguir' } as ChannelEvent);
    assert.equal(await isSuppressed(database, phoneIndexOf(vault, ana.phone)), false);
  });

  it('are asked back after the application has closed too; whoever was sent nothing is not asked', async () => {
    const [closed, silent] = [await applicantAt(), await applicantAt({ messaging_optin: false }, false)];
    await json('application', 'reject', `${closed.id}`, '--reason', 'x');
    for (const one of [closed, silent]) await writes(one, DOUBT);
    assert.deepEqual(
      [(await closed.replies()).map(({ buttons }) => buttons.length), await silent.replies()],
      [[2], []],
    );
  });
});

describe('D43: a wrong number before any conversation', () => {
  it('gets an apology, and no message of the application follows until an operator starts a conversation', async () => {
    const ana = await applicantAt();
    await writes(ana, 'Número equivocado');
    await writes(ana, 'hola');
    const replies = await ana.replies();
    assert.deepEqual([replies.length, replies[0]?.buttons], [1, []]);
    assert.match(replies[0]?.text ?? '', /^Gracias por avisarnos/);
    assert.deepEqual(
      linesOf(ana).map(({ level, did }) => [level, did]),
      [
        [40, 'wrong_person'],
        [30, 'nothing'],
      ],
    );
    await json('application', 'approve', `${ana.id}`, '--reason', 'x');
    await sweep();
    await sendAll();
    await hear(await ana.tapEvent());
    assert.deepEqual([sentTo(ana), await ana.row()], [[], undefined]);
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, true);
    await json('conversation', 'start', `${ana.id}`);
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, false);
    await hear(await ana.tapEvent());
    assert.equal(await ana.place(), 'data_consent service');
  });

  it('counts only where a message came, is answered only where words are, and an operator takes it back', async () => {
    const early = await applicantAt({}, false);
    await writes(early, 'Número equivocado');
    assert.equal((await json('application', 'show', `${early.id}`)).wrong_person, false);
    const { id: other } = await json('key', 'issue', '--partner', `${partner}`);
    await database.query(`UPDATE api_keys SET brand = '{"conversation": false}' WHERE id = $1`, [other]);
    const { applicantAt: at } = await conversationsOf(store, other);
    const ana = await at();
    await writes(ana, 'Número equivocado');
    assert.deepEqual(await ana.replies(), []);
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, true);
    const { out } = await run('conversation', 'give-back', `${ana.id}`);
    assert.equal(out, `Messages of application ${ana.id} go to its phone again.\n`);
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, false);
    assert.match((await run('conversation', 'give-back', `${ana.id}`)).err, /has no conversation/);
    await json('application', 'approve', `${ana.id}`, '--reason', 'x');
    await sweep();
    await sendAll();
    assert.equal(sentTo(ana).length, 1);
  });

  it('counts long after a conversation, and an operator takes it back', async () => {
    const ana = await applicantAt();
    await hear(await ana.tapEvent());
    await writes(ana, 'no');
    await database.query(
      "UPDATE conversations SET ended_at = now() - interval '61 days' WHERE application_id = $1",
      [ana.id],
    );
    await writes(ana, 'Número equivocado');
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, true);
    await json('conversation', 'give-back', `${ana.id}`);
    assert.equal((await json('application', 'show', `${ana.id}`)).wrong_person, false);
  });

  it('also after the button came', async () => {
    const ana = await applicantAt();
    await writes(ana, 'hola');
    await writes(ana, 'no soy yo');
    await json('application', 'reject', `${ana.id}`, '--reason', 'x');
    await sendAll();
    assert.deepEqual([sentTo(ana), (await ana.replies()).length], [[], 2]);
    assert.equal((await run('message', 'show', `${ana.id}`)).code, 0);
  });
});
