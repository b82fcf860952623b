/** Conversations on the real store: inputs in, turns, replies and events (D43, D47). */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { ChannelEvent, Heard, TapEvent } from '../../src/domain/message/channel-event.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { channelIndexOf, channelUserIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { workLoop } from '../../src/subjects/conversation/service.ts';
import { claimWork } from '../../src/subjects/conversation/sql/work.ts';
import { hearMessages } from '../../src/subjects/conversation/uses/hear.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { beginDue, waitAfter } from '../../src/subjects/conversation/uses/work.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, performDue } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { hear, settle, sweep, skipPause, applicantAt, inReview, faults, context, works } =
  await conversationsOf(store, key);

const DAY_MS = 86_400_000;
const ago = async (ms: number) => new Date((await databaseTime(database)).getTime() - ms);

/** How many reminders an application has. */
const reminders = async (id: number) =>
  (
    await database.query(
      "SELECT FROM messages_of(ARRAY[$1::bigint + 2::bigint ^ 55]::bigint[]) WHERE type = 'reminder'",
      [id],
    )
  ).rowCount;

describe('the way to the signature (D43)', () => {
  it('goes on with each answer, and tells the partner', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    assert.equal(await ana.place(), 'data_consent service');
    const [consent] = await ana.replies();
    assert.equal(consent?.buttons.length, 2);
    assert.match(consent?.text ?? '', /Acme[\s\S]*autoriz/);
    await ana.choose(0);
    assert.equal(await ana.place(), 'earnings service');
    await ana.sendFile();
    await ana.choose(0);
    assert.equal(await ana.place(), 'debts service');
    await ana.choose(0);
    assert.equal(await ana.place(), 'summary service');
    assert.match((await ana.replies()).at(-1)?.text ?? '', /8\.000\.000[\s\S]*Tasa efectiva anual/);
    await ana.choose(0);
    assert.equal(await ana.place(), 'contract service');
    assert.deepEqual((await ana.replies()).at(-1)?.document, {
      mediaId: 'media.contract',
      filename: 'contrato.pdf',
    });
    await ana.choose(0);
    await ana.write('1234');
    await ana.write('123456');
    assert.equal(await ana.place(), 'signed service');
    assert.deepEqual(await ana.events(), [
      ...['conversation.started', 'documents.received', 'income.verified confirmed', 'contract.signed'],
      'conversation.ended signed',
    ]);
    const row = await ana.row();
    assert.ok(row.ended_at instanceof Date && row.contract_turn > 0 && row.accepted_input !== null);
  });

  it('marks the person’s message as read also where work comes before the reply', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    await ana.choose(0);
    await ana.choose(0);
    const yes = (await ana.replies()).at(-1)!.buttons[0]!.payload;
    const tap = (await ana.tapEvent(yes)) as { messageId: string };
    await hear(tap as never);
    await settle();
    const contract = (await ana.replies()).at(-1);
    assert.deepEqual(
      [contract?.document?.filename, contract?.readMessageId],
      ['contrato.pdf', tap.messageId],
    );
  });

  it('has nothing of the person in clear', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('mi número es 1020304050');
    const dump = JSON.stringify([
      (await database.query('SELECT c::text FROM conversations c')).rows,
      (await database.query('SELECT i::text FROM conversation_inputs i')).rows,
    ]);
    assert.doesNotMatch(dump, new RegExp(`1020304050|${ana.phone.slice(1)}`));
  });
});

describe('each input once, in its order (D43)', () => {
  it('a delivery that comes again changes nothing', async () => {
    const ana = await applicantAt();
    const tap = await ana.tapEvent();
    await hear(tap, tap);
    await settle();
    await hear(tap);
    await settle();
    assert.equal((await ana.replies()).length, 1);
    const yes = await ana.textEvent('sí');
    await hear(yes);
    await hear(yes);
    await settle();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['earnings service', 2]);
  });

  it('inputs of one delivery are one turn with one reply, by the channel’s time', async () => {
    const ana = await applicantAt();
    await ana.tap();
    const first = await ana.textEvent('sí', await ago(0));
    // The channel's time has whole seconds.
    const second = await ana.textEvent('gracias', await ago(-1_000));
    await hear(second, first);
    await settle();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['earnings service', 2]);
  });

  it('files within three seconds are one turn with one reply', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    for (const media of ['m1', 'm2', 'm3']) await hear(await ana.fileEvent(media));
    const waiting = 'FROM conversation_inputs WHERE application_id = $1 AND turn IS NULL';
    const { rows } = await database.query(
      `SELECT extract(epoch FROM settles_at - stored_at)::float8 AS pause ${waiting}`,
      [ana.id],
    );
    assert.deepEqual(
      rows.map(({ pause }) => Math.round(pause)),
      [3, 3, 3],
    );
    // A busy machine may take longer until here.
    await database.query(
      "UPDATE conversation_inputs SET settles_at = now() + interval '1 hour' WHERE turn IS NULL",
    );
    await settle();
    assert.equal((await ana.replies()).length, 2);
    await skipPause();
    await settle();
    const replies = await ana.replies();
    assert.equal(replies.length, 3);
    assert.match(replies.at(-1)?.text ?? '', /\(3\)/);
    assert.equal((await ana.row()).state.usable.earnings, 3);
  });

  it('a file of a channel without ids of messages is indexed as if it had one', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    const indexes: string[] = [];
    const readDocument = async (_order: unknown, file: { readonly inputIndex: string }) => {
      indexes.push(file.inputIndex);
      return 'accepted' as const;
    };
    await hear({ ...(await ana.fileEvent()), messageId: null } as ChannelEvent);
    await skipPause();
    await takeTurns(context);
    const performer = { ...works.performer, readDocument };
    await performDue({ ...works, performer }, 'files');
    const { rows } = await database.query(
      "SELECT max(id) AS id FROM conversation_inputs WHERE source = 'person'",
    );
    const standIn = channelIndexOf(store.vault, `conversation input ${rows[0].id}`);
    assert.deepEqual(indexes, [toBigint(standIn)]);
    await settle();
  });
});

it('a button of an earlier conversation of the application asks again and never acts', async () => {
  const ana = await applicantAt();
  const begun = async () => {
    await json('conversation', 'start', `${ana.id}`);
    await settle();
    await ana.write('hola');
    assert.equal(await ana.place(), 'data_consent service');
    return (await ana.replies()).at(-1);
  };
  const old = await begun();
  await json('conversation', 'close', `${ana.id}`);
  await settle();
  await begun();
  await ana.tap(old?.buttons[0]?.payload);
  assert.equal(await ana.place(), 'data_consent service');
  await ana.choose(0);
  assert.equal(await ana.place(), 'earnings service');
});

it('who asks for a person after the end waits for an operator, and is counted, until it is given back', async () => {
  const ana = await applicantAt();
  await ana.tap();
  await json('conversation', 'close', `${ana.id}`);
  await settle();
  assert.equal((await ana.row()).waits_since, null);
  await ana.write('asesor');
  const row = await ana.row();
  assert.deepEqual([row.place, row.held_by], ['closed', 'operator']);
  assert.ok(row.waits_since !== null, 'nobody would see it');
  await json('conversation', 'give-back', `${ana.id}`);
  await settle();
  assert.equal((await ana.row()).waits_since, null);
});

describe('whom it belongs to (D43)', () => {
  it('a person without a phone is found by the message that is answered', async () => {
    const ana = await applicantAt();
    const tap = {
      ...(await ana.tapEvent()),
      from: null,
      userId: 'CO.1',
      contextMessageId: `wamid.${ana.id}`,
    };
    await hear(tap as never);
    await settle();
    assert.equal(await ana.place(), 'data_consent service');
    const text = { ...(await ana.textEvent('sí')), from: null, userId: 'CO.1' };
    await hear(text as never);
    await settle();
    assert.equal(await ana.place(), 'earnings service');
  });

  it('a person without a phone is known from the tap on, also where the id of the offer is recorded while the tap is taken in', async () => {
    const ana = await applicantAt();
    const event = { ...(await ana.tapEvent()), from: null, userId: 'CO.2' } as TapEvent;
    const tapped: Heard = {
      ...{ event, messageIndex: channelIndexOf(store.vault, 'wamid.late'), phoneIndex: null, optsOut: false },
      userIndex: channelUserIndexOf(store.vault, 'CO.2'),
      contextIndex: channelIndexOf(store.vault, `wamid.${ana.id}`),
    };
    await hearMessages(context, [tapped]);
    await settle();
    assert.equal(await ana.place(), 'data_consent service');
    assert.deepEqual(await ana.events(), ['conversation.started']);
    const { rows } = await database.query(
      'SELECT interested_at IS NOT NULL AS interested FROM application_states WHERE application_id = $1',
      [ana.id],
    );
    assert.deepEqual(rows, [{ interested: true }]);
    await hear({ ...(await ana.textEvent('sí')), from: null, userId: 'CO.2' } as never);
    await settle();
    assert.equal(await ana.place(), 'earnings service');
  });

  it('the tap of another phone that names no message of the application begins nothing', async () => {
    const ana = await applicantAt();
    await hear({ ...(await ana.tapEvent()), from: toPhone('+573009999999') } as never);
    await settle();
    assert.equal(await ana.row(), undefined);
  });

  it('an answer from another phone goes to an operator: it is told to nobody, and opens no window', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await database.query(`UPDATE replies SET channel_message_id = $2 WHERE application_id = $1`, [
      ana.id,
      toBigint(channelIndexOf(store.vault, `wamid.reply.${ana.id}`)),
    ]);
    const [before, told] = [await ana.row(), (await ana.replies()).length];
    const answer = { from: toPhone('+573009998877'), contextMessageId: `wamid.reply.${ana.id}` };
    await hear({ ...(await ana.textEvent('sí')), ...answer } as never);
    await settle();
    const after = await ana.row();
    assert.equal(await ana.place(), 'data_consent operator');
    assert.equal(after.state.handedOver, 'other_phone');
    assert.deepEqual(after.heard_at, before.heard_at);
    assert.equal((await ana.replies()).length, told);
    const shown = await json('conversation', 'show', `${ana.id}`);
    assert.match(JSON.stringify(shown), /of another phone/);
    await json('conversation', 'give-back', `${ana.id}`);
    await settle();
    assert.equal(await ana.place(), 'data_consent service');
    // The channel tells no phone of this person.
    await hear({ ...(await ana.textEvent('sí')), ...answer, from: null, userId: 'CO.3' } as never);
    await settle();
    assert.equal(await ana.place(), 'earnings service');
  });

  it('the tap of another phone on a message of the application begins nothing', async () => {
    const ana = await applicantAt();
    const other = { from: toPhone('+573009998877'), contextMessageId: `wamid.${ana.id}` };
    await hear({ ...(await ana.tapEvent()), ...other } as never);
    await settle();
    assert.equal(await ana.row(), undefined);
  });

  it('a stranger who writes first begins nothing', async () => {
    const ana = await applicantAt();
    const before = (await database.query('SELECT FROM conversation_inputs')).rowCount;
    await ana.write('hola');
    assert.equal(await ana.row(), undefined);
    assert.equal((await database.query('SELECT FROM conversation_inputs')).rowCount, before);
  });

  it('a brand that says no has no conversations', async () => {
    const { id: quiet } = await json('key', 'issue', '--partner', `${partner}`);
    await database.query(`UPDATE api_keys SET brand = '{"conversation": false}' WHERE id = $1`, [quiet]);
    const { applicantAt: quietApplicant } = await conversationsOf(store, quiet);
    const ana = await quietApplicant();
    await ana.tap();
    assert.equal(await ana.row(), undefined);
  });
});

describe('opt-outs win (D43)', () => {
  it('"BAJA" ends it, suppresses, and nothing follows', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.write('BAJA');
    assert.equal(await ana.place(), 'closed service');
    assert.equal((await ana.replies()).length, 1);
    const { rowCount } = await database.query(
      'SELECT FROM suppressions s JOIN conversations c USING (phone_index) WHERE c.application_id = $1 AND s.active',
      [ana.id],
    );
    assert.equal(rowCount, 1);
    await ana.write('hola');
    assert.equal((await ana.replies()).length, 1);
  });

  it('an operator’s suppression ends it too', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await json('suppression', 'add', ana.phone);
    await sweep();
    await settle();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['closed service', 1]);
    assert.equal((await ana.row()).state.optedOut, true);
  });
});

describe('what else came in the turn that ends it (D43)', () => {
  it('after an opt-out nothing follows, also nothing of what came before it in the same turn', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    const before = (await ana.replies()).length;
    await hear(await ana.textEvent('no entiendo'), await ana.textEvent('BAJA'));
    await settle();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['closed service', before]);
  });

  it('after an opt-out no code goes out that was asked for in the same turn', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    for (let step = 0; step < 4; step += 1) await ana.choose(0);
    assert.equal(await ana.place(), 'code service');
    await hear(await ana.textEvent('1234'), await ana.textEvent('BAJA'));
    await takeTurns(context);
    const { rowCount } = await database.query('SELECT FROM conversation_work WHERE application_id = $1', [
      ana.id,
    ]);
    assert.deepEqual([await ana.place(), rowCount], ['closed service', 0]);
  });

  it('the reply of the end has no question of before it', async () => {
    const ana = await applicantAt(APPROVED);
    await ana.tap();
    await hear(await ana.textEvent('no entiendo'), await ana.textEvent('no'));
    await settle();
    assert.equal(await ana.place(), 'declined service');
    assert.deepEqual((await ana.replies()).at(-1)?.buttons, []);
  });
});

describe('the application’s status (D43)', () => {
  it('in review it waits after checking, and goes on by itself when approved', async () => {
    const ana = await inReview();
    assert.match((await ana.replies()).at(-1)?.text ?? '', /revisión/);
    await json('application', 'approve', `${ana.id}`, '--reason', 'test');
    await sweep();
    await settle();
    assert.equal(await ana.place(), 'summary service');
  });

  it('in review it tells what is waited for five times, and again on the next day', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await ana.choose(0);
    await ana.sendFile();
    await ana.choose(0);
    await ana.choose(0);
    // One moment, so that no day begins between.
    const { heard_at: at } = await ana.row();
    const asks = async () => {
      await hear(await ana.textEvent('cuándo me responden?', at));
      await settle();
    };
    for (let times = 0; times < 5; times += 1) await asks();
    const told = (await ana.replies()).length;
    await asks();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['checking service', told]);
    // All of it was yesterday.
    await database.query(
      "UPDATE conversations SET heard_at = (heard_at AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC' WHERE application_id = $1",
      [ana.id],
    );
    await asks();
    const replies = await ana.replies();
    assert.equal(replies.length, told + 1);
    assert.match(replies.at(-1)?.text ?? '', /revis/);
  });

  it('a rejection closes it', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await json('application', 'reject', `${ana.id}`, '--reason', 'test');
    await sweep();
    await sweep();
    await settle();
    assert.equal(await ana.place(), 'closed service');
    assert.deepEqual(await ana.events(), ['conversation.started', 'conversation.ended closed']);
  });
});

describe('the channel’s window (D43)', () => {
  it('a tap of over 24 hours ago opens none: the template goes out, and the person has to write', async () => {
    const ana = await applicantAt();
    await hear(await ana.tapEvent(undefined, await ago(DAY_MS + 60_000)));
    await settle();
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['started service', 0]);
    assert.equal(await reminders(ana.id), 1);
    await ana.write('hola');
    assert.deepEqual([await ana.place(), (await ana.replies()).length], ['data_consent service', 1]);
  });

  it('a question that came too late is followed by one template, then by the end', async () => {
    const ana = await applicantAt();
    await ana.tap();
    await database.query(
      `UPDATE conversations SET heard_at = now() - interval '25 hours', due_at = now(), timer = 'remind' WHERE application_id = $1`,
      [ana.id],
    );
    await settle();
    assert.equal(await reminders(ana.id), 1);
    assert.equal((await ana.replies()).length, 1);
    await database.query('UPDATE conversations SET due_at = now() WHERE application_id = $1', [ana.id]);
    await settle();
    assert.equal(await ana.place(), 'expired service');
    assert.equal(await reminders(ana.id), 1);
  });

  it('nobody is reminded outside the contact window: the template follows, which waits for the window', async () => {
    const asked: unknown[] = [];
    const closed = await conversationsOf(store, key, {
      mayRemind: (country) => {
        asked.push(country);
        return false;
      },
    });
    const ana = await closed.applicantAt();
    await ana.tap();
    const ring = () =>
      database.query('UPDATE conversations SET due_at = now() WHERE application_id = $1', [ana.id]);
    await ring();
    await closed.settle();
    assert.deepEqual([asked, (await ana.replies()).length, await reminders(ana.id)], [['CO'], 1, 0]);
    await ring();
    await closed.settle();
    assert.deepEqual([(await ana.replies()).length, await reminders(ana.id)], [1, 1]);
  });
});

describe('bad rows', () => {
  it('an input that cannot be opened goes to an operator, and stops no other conversation', async () => {
    const ana = await applicantAt();
    const eva = await applicantAt();
    await ana.tap();
    await eva.tap();
    await hear(await ana.textEvent('sí'), await eva.textEvent('sí'));
    await database.query(
      `UPDATE conversation_inputs SET content = substring(content FROM 1 FOR 20) WHERE turn IS NULL AND application_id = $1`,
      [ana.id],
    );
    await settle();
    assert.deepEqual([await ana.place(), await eva.place()], ['data_consent operator', 'earnings service']);
    assert.equal(faults.length, 1);
  });

  it('a state that makes the rules fail goes to an operator, and stops no other conversation', async () => {
    const ana = await applicantAt();
    const eva = await applicantAt();
    await ana.tap();
    await eva.tap();
    await database.query(`UPDATE conversations SET state = 'null'::jsonb || '[]' WHERE application_id = $1`, [
      ana.id,
    ]);
    await hear(await ana.fileEvent(), await eva.textEvent('sí'));
    await skipPause();
    await settle();
    assert.deepEqual([await ana.place(), await eva.place()], ['data_consent operator', 'earnings service']);
  });
});

it('a crash between a turn and its commit repeats nothing', async () => {
  const ana = await applicantAt();
  await ana.tap();
  await hear(await ana.textEvent('sí'));
  const signing = {
    ...context.signing,
    recordEvidence: async () => {
      throw new Error('crash');
    },
  };
  await assert.rejects(takeTurns({ ...context, signing }), /crash/);
  assert.deepEqual([(await ana.replies()).length, await ana.place()], [1, 'data_consent service']);
  await settle();
  assert.deepEqual([(await ana.replies()).length, await ana.place()], [2, 'earnings service']);
});

/** How many files a process takes up, of which 4 may be of a partner; `held`: the partners of those that it reads. */
const claimFiles = (room: number, held: number[] = []) =>
  claimWork(database, 'files', { room, ofPartner: 4, held: held as PartnerId[] }, 60_000);

describe('work beside the conversations', () => {
  afterEach(() => database.query('DELETE FROM conversation_work'));

  it('many files that take long keep no other work waiting', async () => {
    await database.query(
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, purpose, input_id, due_at)
      SELECT -n, 0, 1, 'read_document', 'earnings', -n, now() - interval '1 hour' FROM generate_series(1, 30) AS n
      UNION ALL SELECT 0, 0, 1, 'offer', NULL, NULL, now()`,
    );
    const others = await claimWork(database, 'others', { room: 8, ofPartner: 1, held: [] }, 60_000);
    assert.deepEqual(
      others.map(({ work }) => work),
      ['offer'],
    );
    assert.deepEqual(
      (await claimFiles(3)).map(({ work }) => work),
      Array.from({ length: 3 }, () => 'read_document'),
    );
  });

  it('files are read in turns: one of a conversation, and of the partner of which the fewest are read', async () => {
    // The conversations 11 to 15 are of partner 1, in the order of their age; 21 is of partner 2.
    await database.query(
      `INSERT INTO conversation_work (conversation_id, application_id, partner_id, work, purpose, input_id, due_at)
      SELECT c, 0, c / 10, 'read_document', 'earnings', -(100 * c + n), now() - interval '1 hour' + c * interval '1 minute'
      FROM unnest('{11,12,13,14,15,21}'::integer[]) AS c, generate_series(1, CASE c WHEN 11 THEN 4 ELSE 1 END) AS n`,
    );
    const conversations = async (room: number, held: number[] = []) =>
      (await claimFiles(room, held)).map(({ conversationId }) => Number(conversationId)).sort();
    // Files of the oldest conversation wait, and the other partner comes first where one of partner 1 is read.
    assert.deepEqual(await conversations(1), [11]);
    assert.deepEqual(await conversations(1, [1]), [21]);
    // A place is left for another partner.
    assert.deepEqual(await conversations(6, [1, 2]), [12, 13, 14]);
    assert.deepEqual(await conversations(2, [1, 1, 1, 1, 2]), []);
    assert.deepEqual(await conversations(6), [15]);
    // The first one has ended: its conversation has the next turn.
    await database.query(
      'DELETE FROM conversation_work WHERE conversation_id = 11 AND leased_until IS NOT NULL',
    );
    assert.deepEqual(await conversations(6), [11]);
    assert.deepEqual(await conversations(6), []);
  });
});

it('what a turn claims also has the names that 1.0 reads, whose processes work beside this version', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await hear(await ana.textEvent('hola'));
  const keys = store.vault.dataKeyIds.map((id) => Buffer.of(id));
  const { rows: claimed } = await database.query('SELECT t.inputs, t.told FROM claim_turns(1, $1, $2) AS t', [
    [(await ana.row()).id],
    keys,
  ]);
  const { inputs, told } = claimed[0];
  const { id, conversation_id, application_id, seal_id, message_index } = inputs[0];
  const { rows: stored } = await database.query(
    'SELECT conversation_id, application_id, seal_id, message_index FROM conversation_inputs WHERE id = $1',
    [id],
  );
  assert.deepEqual([{ conversation_id, application_id, seal_id, message_index }], stored);
  assert.ok(told[0].arrived_at !== null && told[0].arrived_at === told[0].arrivedAt);
  await settle();
});

it('work of a conversation that ended meanwhile is dropped: who opts out gets no code (D43)', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await hear(await ana.fileEvent());
  await skipPause();
  await takeTurns(context);
  const { rowCount: before } = await database.query(
    'SELECT FROM conversation_work WHERE application_id = $1',
    [ana.id],
  );
  assert.ok(before, 'there is work');
  await database.query('UPDATE conversations SET ended_at = now() WHERE application_id = $1', [ana.id]);
  let calls = 0;
  const readDocument = async () => {
    calls += 1;
    return 'accepted' as const;
  };
  const performer = { ...works.performer, readDocument };
  await performDue({ ...works, performer }, 'files');
  assert.equal(calls, 0);
  const { rowCount: after } = await database.query(
    'SELECT FROM conversation_work WHERE application_id = $1',
    [ana.id],
  );
  assert.equal(after, 0);
});

it('a file that never ends keeps no other file waiting, and a stop waits for it only until its cut', async () => {
  const [ana, eva] = [await applicantAt(), await applicantAt()];
  for (const one of [ana, eva]) {
    await one.tap();
    await one.choose(0);
    await hear(await one.fileEvent());
  }
  await skipPause();
  await takeTurns(context);
  const ends: (() => void)[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const performer = {
    ...works.performer,
    readDocument: () =>
      new Promise<never>((_, reject) => {
        if (ends.push(() => reject(new Error('over'))) === 2) resolve();
      }),
  };
  const loop = workLoop('files', { ...works, performer }, () => {});
  await both;
  const last = loop.lastTurnMs();
  await eventually('another turn', () => loop.lastTurnMs() > last);
  await loop.stop();
  await loop.ended;
  for (const end of ends) end();
});

it('work that fails is tried for about half an hour: a scanner may be away for 20 minutes', () => {
  let waitedMs = 0;
  for (let tries = 1, wait = waitAfter(1); wait !== null; tries += 1, wait = waitAfter(tries))
    waitedMs += wait;
  assert.ok(waitedMs > 25 * 60_000 && waitedMs < 35 * 60_000, `${waitedMs} ms`);
});

it('work of a process that lives is left to it, and that of one that died goes on within half a minute', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await hear(await ana.fileEvent());
  await skipPause();
  await takeTurns(context);
  const { promise, resolve } = Promise.withResolvers<void>();
  const performer = { ...works.performer, readDocument: () => promise.then(() => 'accepted' as const) };
  const leasedMs = async () => {
    const { rows } = await database.query<{ ms: number }>(
      'SELECT extract(epoch FROM due_at - clock_timestamp())::float8 * 1000 AS ms FROM conversation_work WHERE application_id = $1',
      [ana.id],
    );
    return rows[0]!.ms;
  };
  const clock = new TestClock();
  const turn = { room: 1, held: [], cut: new AbortController().signal };
  const [work] = await beginDue({ ...works, performer, clock }, 'files', turn);
  assert.ok((await leasedMs()) <= 30_000);
  await database.query(
    `UPDATE conversation_work SET due_at = now() + interval '1 second' WHERE application_id = $1`,
    [ana.id],
  );
  await clock.advance(9_999);
  assert.ok((await leasedMs()) <= 1_000);
  await clock.advance(1);
  await eventually('a longer lease', async () => (await leasedMs()) > 15_000);
  resolve();
  await work!.ended;
  await settle();
  assert.equal((await ana.row()).state.usable.earnings, 1);
});

it('work that is put off until its last try goes to an operator, and the log has its reason', async () => {
  const ana = await applicantAt(APPROVED);
  await ana.tap();
  await ana.choose(0);
  await ana.sendFile();
  await ana.choose(0);
  await hear(await ana.tapEvent((await ana.replies()).at(-1)!.buttons[0]!.payload));
  await takeTurns(context);
  await database.query('UPDATE conversation_work SET tries = 10 WHERE application_id = $1', [ana.id]);
  const told: unknown[] = [];
  const performer = { ...works.performer, checkIncome: async () => ({ retryAfterMs: 0, reason: 'away' }) };
  const onFailure = (...failure: unknown[]) => void told.push(failure.slice(1));
  await performDue({ ...works, performer, onFailure }, 'others');
  await settle();
  assert.deepEqual([await ana.place(), told], ['checking operator', [['away', true]]]);
});
