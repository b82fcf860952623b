/** An opt-out or a pause in an answer of the channel is stored, even if statements fail (docs/messages.md). */
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import type { SendResult, TemplateChannel } from '../../src/domain/message/channel.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { channelNotices } from '../../src/subjects/messages/delivery/records.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import type { ChannelNotice } from '../../src/subjects/messages/sql/channel-notices.ts';
import { readPauses } from '../../src/subjects/messages/sql/messages.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext, keeping } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { setAll, setMessages } from '../support/messages.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const lost: ChannelNotice[] = [];
const clock = new TestClock();
/** A notice is tried again after this rest, and given up at the end of the time. */
const REST_MS = 500;
const TRY_FOR_MS = 2_000;
const notices = channelNotices({
  ...keeping({ database, clock }),
  keepTryingMs: TRY_FOR_MS,
  onLost: (some) => lost.push(...some),
});

/** Lets the rest after a refusal pass, so many times; to its last millisecond nothing is settled. */
async function rest(concluded: Promise<void>, times: number): Promise<void> {
  let isOver = false;
  const over = concluded.then(() => {
    isOver = true;
  });
  for (let time = 0; time < times; time += 1) {
    await clock.untilTimer(REST_MS);
    await clock.advance(REST_MS - 1);
    assert.deepEqual([isOver, clock.timers], [false, 1]);
    await clock.advance(1);
  }
  await over;
}

/**
 * The database refuses the next changes of a table, with this SQLSTATE; the count is a sequence, which no rollback
 * undoes.
 */
async function refuse(table: string, times: number, code: string): Promise<void> {
  for (const statement of [
    'DROP SEQUENCE IF EXISTS refusals CASCADE',
    'CREATE SEQUENCE refusals',
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('refusals') <= ${times} THEN RAISE 'refused' USING ERRCODE = '${code}'; END IF;
      RETURN NEW;
    END $$`,
    `CREATE OR REPLACE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
  ]) {
    await database.query(statement);
  }
}

const obey = () => database.query('DROP FUNCTION IF EXISTS refuse() CASCADE');
beforeEach(async () => {
  await obey();
  await database.query(
    `DELETE FROM paused_templates; UPDATE sender SET paused_at = NULL, paused_reason = NULL`,
  );
  await setAll(database, ['queued'], { status: 'cancelled' });
});

function contextOf(answer: (message: OutgoingMessage) => SendResult) {
  const sent: number[] = [];
  const send = async (message: OutgoingMessage) => {
    sent.push(message.applicationId);
    return answer(message);
  };
  return { context: deliveryContext(store, { send }, { notices }), sent };
}

/** `refusals`: so many times the database refuses the notice. */
async function deliver(answer: SendResult, refusals = 0): Promise<number[]> {
  const { context, sent } = contextOf(() => answer);
  await rest((await deliverDue(context, new AbortController().signal)).concluded, refusals);
  return sent;
}

const accepted: SendResult = { kind: 'accepted', channelMessageId: 'wamid.x' };
let serial = 3_500_000_000;
const person = (changes: object = {}) => {
  serial += 1;
  return applicant({ phone: toPhone(`+57${serial}`), id_number: `${serial}`, ...changes });
};

async function stateOf(id: number | undefined): Promise<string> {
  const { rows } = await database.query<{ state: string }>(
    `SELECT status || coalesce(' ' || reason, '') AS state FROM messages WHERE application_id = $1`,
    [id],
  );
  return rows[0]?.state ?? 'none';
}

it('an opt-out from the channel holds, though storing it fails twice', async () => {
  const [id] = await register(key, [person()]);
  await refuse('suppressions', 2, '57014');
  await deliver({ kind: 'opted_out', reason: '131050' }, 2);
  assert.equal(await stateOf(id), 'failed 131050');
  await setMessages(database, [id], { status: 'queued', dueInMs: 0 });
  assert.deepEqual(await deliver(accepted), []);
  assert.equal(await stateOf(id), 'cancelled suppressed');
});

const PAUSES: [kind: 'pause_sender' | 'pause_template', table: string, what: string][] = [
  ['pause_sender', 'sender', 'sender'],
  ['pause_template', 'paused_templates', 'ventanilla_approved'],
];
for (const [kind, table, what] of PAUSES) {
  it(`${kind} holds, though storing it fails twice, and so do notices of other answers meanwhile`, async () => {
    const [first, second] = await register(key, [person(), person(IN_REVIEW)]);
    const { context } = contextOf(({ applicationId }) => ({
      kind: applicationId === first ? kind : 'opted_out',
      reason: '1',
    }));
    // From the first send on, because the turn itself writes the sender's row as well.
    let refused: Promise<void> | null = null;
    const send: TemplateChannel['send'] = async (message, signal) => {
      refused ??= refuse(table, 2, '57014');
      await refused;
      return context.channel.send(message, signal);
    };
    const turn = await deliverDue({ ...context, channel: { send } }, new AbortController().signal);
    await rest(turn.concluded, 2);
    assert.deepEqual(
      (await readPauses(database)).map((pause) => pause.what),
      [what],
    );
    assert.equal(await stateOf(second), 'failed 1');
    assert.deepEqual(lost, []);
  });
}

it('a notice that cannot be stored is reported once, without personal data, and the message goes on', async () => {
  const rows: unknown[] = [];
  // The first may hold later; the second never does.
  for (const [code, refusals] of [
    ['57014', TRY_FOR_MS / REST_MS],
    ['23514', 0],
  ] as const) {
    const [id] = await register(key, [person()]);
    await refuse('suppressions', 1_000, code);
    await deliver({ kind: 'opted_out', reason: '131050' }, refusals);
    rows.push({ kind: 'opted_out', applicationId: id });
    assert.equal(await stateOf(id), 'failed 131050');
    await obey();
  }
  assert.deepEqual(lost, rows);
});
