/** What no flow foresees: the person gets a clear answer, and an operator sees it (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pino from 'pino';
import type { ChannelEvent, TextEvent } from '../../src/domain/message/channel-event.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { conversationService } from '../../src/subjects/conversation/service.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodPerformer, goodSigning } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const performer = goodPerformer();
const { hear, settle, skipPause, applicantAt, context } = await conversationsOf(store, key, { performer });
/** Hears as the service does. */
const serviceHears = (...events: ChannelEvent[]) =>
  applyChannelEvents(
    {
      ...{ database, vault },
      hear: async (heard) =>
        void (await conversationService().hear?.(
          { database, vault, clock: machineClock, log, setting: (() => {}) as never },
          heard,
        )),
    },
    events,
  );
const last = async (ana: { replies(): Promise<{ text: string }[]> }) =>
  (await ana.replies()).at(-1)?.text ?? '';
const shown = (id: number) => run('conversation', 'show', `${id}`).then(({ out }) => out);
const HOUR_MS = 3_600_000;

describe('files', () => {
  it('thirty at once get one answer, and as many as a step takes are fetched', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await hear(...(await Promise.all(Array.from({ length: 30 }, (_, n) => ana.fileEvent(`m${n}`)))));
    await skipPause();
    await settle();
    assert.equal((await ana.replies()).length, 3);
    assert.match(await last(ana), /suficientes archivos[\s\S]*\(12\)/);
    assert.equal((await ana.row()).state.usable.earnings, 12);
    const seen = await shown(ana.id);
    assert.equal(seen.match(/person: file document/g)?.length, 30, seen);
    assert.equal(seen.match(/work: document accepted/g)?.length, 12, seen);
  });

  it('one that is gone is asked for again, and the operator reads why', async () => {
    const gone = await conversationsOf(store, key, {
      performer: goodPerformer({ readDocument: async () => ({ refused: 'gone' }) }),
    });
    const ana = await gone.applicantAt();
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    assert.match(await last(ana), /No pudimos descargar[\s\S]*Envía/);
    assert.match(await shown(ana.id), /work: document refused gone/);
  });

  it('a caption that wants no more messages is the end, and the file is not fetched', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await hear({ ...(await ana.fileEvent()), caption: 'BAJA' } as ChannelEvent);
    await settle();
    assert.deepEqual([await ana.place(), (await ana.row()).state.files.earnings], ['closed service', 0]);
  });

  for (const [caption, place] of [
    ['Quiero retirarme', 'withdrawn service'],
    ['Número equivocado', 'earnings operator'],
    ['extracto de mayo', 'earnings service'],
  ]) {
    it(`a file with the caption "${caption}" leads to ${place}`, async () => {
      const ana = await applicantAt();
      await ana.tap();
      await ana.choose(0);
      await hear({ ...(await ana.fileEvent()), caption } as ChannelEvent);
      await skipPause();
      await settle();
      const isFile = place === 'earnings service';
      assert.deepEqual([await ana.place(), (await ana.row()).state.files.earnings], [place, isFile ? 1 : 0]);
    });
  }

  it('a voice message and emoji are answered with the question, and the third brings an operator', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await hear({ ...(await ana.fileEvent()), media: 'audio' } as ChannelEvent);
    await skipPause();
    await settle();
    assert.match(await last(ana), /audios[\s\S]*autorizas/);
    await ana.write('😀😀');
    await ana.write('🤷');
    assert.equal(await ana.place(), 'data_consent operator');
    assert.match(await shown(ana.id), /operator: not_understood/);
  });
});

describe('order and time', () => {
  it('of two answers of the same moment the one that came first counts', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await eva.tap();
    const at = await databaseTime(database);
    await hear(await ana.textEvent('sí', at), await ana.textEvent('no', at));
    await hear(await eva.textEvent('no', at), await eva.textEvent('sí', at));
    await settle();
    assert.deepEqual([await ana.place(), await eva.place()], ['earnings service', 'declined service']);
    for (const [{ id }, answers] of [
      [ana, ['sí', 'no']],
      [eva, ['no', 'sí']],
    ] as const) {
      const { inputs } = await json('conversation', 'show', `${id}`, '--reveal', '--reason', 'test');
      const texts = inputs.filter(({ kind }: { kind: string }) => kind === 'text');
      assert.deepEqual(
        texts.map(({ text }: { text: string }) => text),
        answers,
      );
      assert.equal(new Set(texts.map(({ turn }: { turn: number }) => turn)).size, 1);
    }
  });

  it('a button of yesterday, or of another conversation, asks again; the fifth in a row brings an operator', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await eva.tap();
    const ofYesterday = (await ana.replies())[0]!.buttons[1]!.payload;
    const ofEva = (await eva.replies())[0]!.buttons[1]!.payload;
    await ana.choose(0);
    await database.query(
      "UPDATE conversations SET heard_at = (heard_at AT TIME ZONE 'UTC' - interval '20 hours') AT TIME ZONE 'UTC' WHERE application_id = $1",
      [ana.id],
    );
    const from = (await databaseTime(database)).getTime() - 60_000;
    /** Further apart than the two taps of one thumb. */
    const tapped = async (payload: string, number: number) => {
      await hear(await ana.tapEvent(payload, new Date(from + 5_000 * number)));
      await settle();
    };
    for (const [index, payload] of [ofYesterday, ofEva, ofYesterday, ofEva].entries()) {
      await tapped(payload, index);
      assert.equal(await ana.place(), 'earnings service');
      assert.match(await last(ana), /comprobantes de ingresos/);
    }
    await tapped(ofYesterday, 4);
    assert.equal(await ana.place(), 'earnings operator');
    assert.match(await last(ana), /Una persona del equipo/);
    assert.equal(await eva.place(), 'data_consent service');
    const seen = await shown(ana.id);
    assert.match(seen, /operator: old_buttons/);
    assert.equal(seen.match(/person: tap of another message/g)?.length, 2, seen);
    assert.equal(seen.match(/person: tap no/g)?.length, 3, seen);
  });

  it('a time in the future counts as now, and one of yesterday opens no window', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    const now = await databaseTime(database);
    await hear(await ana.tapEvent(undefined, new Date(now.getTime() + 100 * HOUR_MS)));
    await settle();
    assert.ok((await ana.row()).heard_at <= (await databaseTime(database)));
    await eva.tap();
    const yes = (await eva.replies())[0]!.buttons[0]!.payload;
    await database.query(
      "UPDATE conversations SET heard_at = (heard_at AT TIME ZONE 'UTC' - interval '30 hours') AT TIME ZONE 'UTC' WHERE application_id = $1",
      [eva.id],
    );
    await hear(await eva.tapEvent(yes, new Date(now.getTime() - 25 * HOUR_MS)));
    await settle();
    assert.deepEqual([await eva.place(), (await eva.replies()).length], ['earnings service', 1]);
    assert.equal((await eva.row()).state.unsaid, true);
  });

  it('the window is closed from its last moment on', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await json('conversation', 'hand-over', `${ana.id}`);
    const heardAgo = async (minutes: number) =>
      database.query('UPDATE conversations SET heard_at = $2 WHERE application_id = $1', [
        ana.id,
        new Date((await databaseTime(database)).getTime() - minutes * 60_000),
      ]);
    await heardAgo(24 * 60 - 1);
    assert.equal((await run('conversation', 'say', `${ana.id}`, 'x')).code, 0);
    await heardAgo(24 * 60);
    assert.match((await run('conversation', 'say', `${ana.id}`, 'x')).err, /over 24 hours ago/);
  });
});

describe('whose message it is', () => {
  it('one id of the channel from two phones counts once', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await eva.tap();
    const yes = await ana.textEvent('sí');
    await hear(yes, {
      ...(await eva.textEvent('sí')),
      messageId: (yes as TextEvent).messageId,
    } as ChannelEvent);
    await settle();
    assert.deepEqual([await ana.place(), await eva.place()], ['earnings service', 'data_consent service']);
  });

  it('somebody else at the phone hears no more, and the operator sees why', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('Número equivocado');
    assert.match(await last(ana), /disculpa/);
    await ana.write('hola?');
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['data_consent operator', 2]);
    assert.match(await shown(ana.id), /operator: wrong_person/);
  });

  it('a key that is revoked in the middle leaves the applicant’s conversation as it is', async () => {
    const { id: other } = await json('key', 'issue', '--partner', `${partner}`);
    const { applicantAt: at } = await conversationsOf(store, other);
    const ana = await at(APPROVED);
    await ana.tap();
    await json('key', 'revoke', `${other}`);
    await ana.choose(0);
    await ana.sendFile();
    await ana.choose(0);
    await ana.choose(0);
    assert.equal(await ana.place(), 'summary service');
    assert.match(await shown(ana.id), /Key +revoked/);
    assert.ok((await json('conversation', 'show', `${ana.id}`)).key_revoked_at);
  });

  it('D43: a brand that is changed in the middle leaves the texts as they began, and the operator sees it', async () => {
    const { id: other } = await json('key', 'issue', '--partner', `${partner}`);
    const { applicantAt: at } = await conversationsOf(store, other);
    const [ana, eva] = [await at(APPROVED), await at(APPROVED)];
    const setBrand = (brand: object) =>
      database.query('UPDATE api_keys SET brand = $2 WHERE id = $1', [other, JSON.stringify(brand)]);
    const changed = async (id: number) => (await json('conversation', 'show', `${id}`)).brand_changed;
    await ana.tap();
    assert.equal(await changed(ana.id), false);
    assert.doesNotMatch(await shown(ana.id), /^(Key|Brand) +[^-\s]/m);
    const texts = { es: { earnings: 'TEXTO NUEVO' } };
    await setBrand({ conversation: { texts } });
    await ana.choose(0);
    assert.doesNotMatch(await last(ana), /TEXTO NUEVO/);
    assert.equal(await changed(ana.id), true);
    assert.match(await shown(ana.id), /Brand +changed since the conversation began/);
    await eva.tap();
    await eva.choose(0);
    assert.match(await last(eva), /TEXTO NUEVO/);
    assert.equal(await changed(eva.id), false);
    for (const brand of [{ conversation: false }, { partner: 'Otra', conversation: { texts } }]) {
      await setBrand(brand);
      assert.equal(await changed(eva.id), true, JSON.stringify(brand));
    }
  });
});

describe('the proofs', () => {
  /** An applicant who is asked for the code. */
  async function atCode(at: typeof applicantAt) {
    const ana = await at(APPROVED);
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    for (let taps = 0; taps < 4; taps += 1) await ana.choose(0);
    await ana.write('1234');
    assert.equal(await ana.place(), 'code service');
    return ana;
  }

  it('D46: a code that is guessed is wrong, and the fifth in a row goes to an operator', async () => {
    const ana = await atCode(applicantAt);
    for (let guess = 0; guess < 4; guess += 1) {
      await ana.write(`00000${guess}`);
      assert.match(await last(ana), /no coincide/);
      assert.equal(await ana.place(), 'code service');
    }
    await ana.write('000009');
    assert.equal(await ana.place(), 'code operator');
    assert.match(await shown(ana.id), /operator: code/);
  });

  it('D46: who signs an application that is no longer open to it reads that a person will write', async () => {
    const signing = goodSigning({
      sign: async () => ({ result: 'not_signable', evidence: [], withdrawal: null }),
    });
    const late = await conversationsOf(store, key, { performer, signing });
    const ana = await atCode(late.applicantAt);
    await ana.write('123456');
    assert.equal(await ana.place(), 'code operator');
    assert.match(await last(ana), /persona/);
    assert.match(await shown(ana.id), /operator: not_signable/);
  });
});

describe('many and large', () => {
  it('a text of a megabyte is one that was not understood, and is not kept whole', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('sí '.repeat(350_000));
    assert.match(await last(ana), /no entendí/);
    await hear({
      ...(await ana.fileEvent()),
      filename: `${'f'.repeat(1_000_000)}.pdf`,
      claimedType: 'x'.repeat(1_000_000),
    } as ChannelEvent);
    const { rows } = await database.query<{ bytes: number }>(
      'SELECT max(octet_length(content)) AS bytes FROM conversation_inputs WHERE application_id = $1',
      [ana.id],
    );
    assert.ok(rows[0]!.bytes < 10_000, `${rows[0]!.bytes}`);
  });

  it('of thousands of messages of one person in a minute 200 are kept, and the log says so', async () => {
    const [ana, eva] = [await applicantAt(), await applicantAt()];
    await ana.tap();
    await eva.tap();
    const at = await databaseTime(database);
    const flood = await Promise.all(Array.from({ length: 1_000 }, () => ana.textEvent('sí', at)));
    for (let from = 0; from < 3_000; from += 1_000) {
      const some = flood.map(
        (event, n) => ({ ...event, messageId: `wamid.flood.${from + n}` }) as ChannelEvent,
      );
      await serviceHears(...some, await eva.textEvent('hola'));
    }
    const { rows } = await database.query<{ count: string }>(
      'SELECT count(*) FROM conversation_inputs WHERE application_id = $1',
      [ana.id],
    );
    assert.equal(Number(rows[0]?.count), 200);
    const line = lines.find(({ msg }) => `${msg}`.includes('too many messages'));
    assert.deepEqual([line?.level, line?.application_id, line?.messages], [40, ana.id, 801]);
    await settle();
    assert.ok((await ana.replies()).length <= 3);
    assert.equal(await eva.place(), 'data_consent operator', 'the others are heard');
    // An hour later there is room again.
    await database.query(
      "UPDATE conversation_inputs SET stored_at = (stored_at AT TIME ZONE 'UTC' - interval '61 minutes') AT TIME ZONE 'UTC' WHERE application_id = $1",
      [ana.id],
    );
    await ana.write('cancelar');
    assert.equal(await ana.place(), 'withdrawn service');
  });

  it('one delivery with the messages of many persons, an opt-out among them, is each person’s own', async () => {
    const persons = await Promise.all(Array.from({ length: 40 }, () => applicantAt()));
    await hear(...(await Promise.all(persons.map((one) => one.tapEvent()))));
    await settle();
    const answers = await Promise.all(persons.map((one, n) => one.textEvent(n === 17 ? 'BAJA' : 'sí')));
    await hear(...answers);
    await settle();
    const places = await Promise.all(persons.map((one) => one.place()));
    assert.deepEqual(
      places.map((place) => place === 'earnings service'),
      places.map((_, n) => n !== 17),
    );
    assert.equal(places[17], 'closed service');
  });

  it('a message that cannot be stored keeps no other one from being stored', async () => {
    const { id: broken } = await json('key', 'issue', '--partner', `${partner}`);
    const { applicantAt: at } = await conversationsOf(store, broken);
    const [bad, ana] = [await at(), await applicantAt()];
    await database.query("UPDATE api_keys SET brand = 'null' WHERE id = $1", [broken]);
    await serviceHears(await bad.tapEvent(), await ana.tapEvent());
    await settle();
    assert.deepEqual([await bad.row(), await ana.place()], [undefined, 'data_consent service']);
    assert.ok(lines.some(({ level, msg }) => level === 50 && `${msg}`.includes('cannot be stored')));
  });
});

describe('operators', () => {
  it('a conversation is begun for nobody who has not consented to messages', async () => {
    const ana = await applicantAt({ messaging_optin: false });
    assert.match((await run('conversation', 'start', `${ana.id}`)).err, /consent/);
    assert.equal(await ana.row(), undefined);
  });

  it('a signed contract keeps its conversation, so that a withdrawal is one of the contract', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    await database.query(`UPDATE application_states SET signed_at = now() WHERE application_id = $1`, [
      ana.id,
    ]);
    await json('conversation', 'close', `${ana.id}`);
    assert.match((await run('conversation', 'start', `${ana.id}`)).err, /signed/);
  });

  it('an act holds at once, also while a file waits for more files', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await hear(await ana.fileEvent());
    assert.equal((await json('conversation', 'hand-over', `${ana.id}`)).held_by, 'operator');
    assert.equal((await run('conversation', 'say', `${ana.id}`, 'Hola')).code, 0);
  });

  it('of two operators at once one acts, and the other one reads why not', async () => {
    const ana = await applicantAt();
    await ana.tap();
    const both = await Promise.all([1, 2].map(() => run('conversation', 'hand-over', `${ana.id}`)));
    assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1]);
    assert.match(both.map(({ err }) => err).join(''), /an operator holds it already/);
    const back = await Promise.all([1, 2].map(() => run('conversation', 'give-back', `${ana.id}`)));
    assert.deepEqual(back.map(({ code }) => code).sort(), [0, 1]);
    assert.equal((await ana.replies()).length, 2);
    const eva = await applicantAt();
    const started = await Promise.all([1, 2].map(() => run('conversation', 'start', `${eva.id}`)));
    assert.deepEqual(started.map(({ code }) => code).sort(), [0, 1]);
    await takeTurns(context);
  });
});
