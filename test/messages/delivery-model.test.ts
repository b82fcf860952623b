/**
 * D33, D40, D42: whatever happens between registration and send, in orders drawn by a seed, each send is one that may
 * go out, no message is lost or stored twice, and each ends. `SEED` gives the same stories again.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { it } from 'node:test';
import { type MessageId, toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { foldRows } from '../../src/ground/postgres/fold.ts';
import { phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { cancelMessages, retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { pauseTemplate, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { addSuppression, liftSuppression } from '../../src/subjects/messages/sql/suppressions.ts';
import { MESSAGE_COUNTS } from '../../src/subjects/messages/sql/tables.ts';
import { findLost, forgetRecipients, forgetRejections } from '../../src/subjects/messages/sql/upkeep.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { assertInStep, endLeases, makeDue, setMessages } from '../support/messages.ts';
import { Random } from '../support/random.ts';
import { shifted } from '../support/shifted.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));
const STORIES = 5;
const ACTS = 60;
const DAY_MS = 25 * 3_600_000;
const TYPES = ['approved', 'offer', 'rejected'] as const;
const MOST = { messages: 3, rejected: 1 };

const store = await testDatabase();
const { database, vault } = store;
const registered = await registrarOf(store);
const { json } = commandLine(store);
const operator = { database, vault, clock: machineClock, actor: 'ana' };
const keys: number[] = [];
for (const name of ['Acme', 'Bolt']) {
  const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
  keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
}

interface Sent {
  readonly message: OutgoingMessage;
  readonly partner: number;
  /** On the clock of the story, which acts move by a day. */
  readonly atMs: number;
}

/** null: the worker dies before the record. */
type Result = (message: OutgoingMessage) => SendResult | null | Promise<SendResult>;

interface Waiting {
  readonly id: MessageId;
  readonly application: number;
  readonly type: OutgoingMessage['type'];
  readonly phone: string;
  readonly partner: number;
  readonly status: string;
  /** The status of the application fits the message. */
  readonly fits: boolean;
}

const WAITING = `
  SELECT m.message_id AS id, a.id::float8 AS application, m.type, a.phone_index AS phone, a.partner_id AS partner, m.status,
    m.type IS NOT DISTINCT FROM message_type_for(a.status) AS fits
  FROM messages m JOIN applications a ON a.id = m.application_id`;
const UNNOTED = `
  SELECT m.message_id FROM messages m JOIN applications a ON a.id = m.application_id
  WHERE m.type = 'rejected' AND m.status = 'queued' AND NOT EXISTS (
    SELECT FROM waiting_rejections w
    WHERE w.phone_index = a.phone_index AND w.partner_id = a.partner_id AND w.message_id = m.message_id)`;
const PASS_DAY = `
  UPDATE recipients SET sent_at = ${shifted('sent_at', '-$1::interval')}, sent_ms = sent_ms - $2::bigint,
    earlier_at = ARRAY(SELECT e - $1::interval FROM unnest(earlier_at) AS e)`;
const RESET = `
  UPDATE sender SET credit = $1, refilled_at = now(), alive_at = now() + interval '1 hour', failures = 0, broken_at = NULL,
    recent_phones = NULL`;

const isLater = (one: Waiting, than: OutgoingMessage) =>
  one.application > than.applicationId ||
  (one.application === than.applicationId && Number(one.id) > Number(than.messageId));

class Story {
  readonly random: Random;
  readonly phones: readonly string[];
  readonly applications: number[] = [];
  /** Applications whose applicant has no message, because there is no consent. */
  readonly silent = new Set<number>();
  readonly sent: Sent[] = [];
  /** Messages that must not go out as they are: the channel has them, may have them, or refused them for good. */
  readonly done = new Set<MessageId>();
  readonly accepted: OutgoingMessage[] = [];
  readonly suppressed = new Set<string>();
  /** What was wrong with sends. */
  readonly wrong: string[] = [];
  nowMs = 0;

  constructor(random: Random) {
    this.random = random;
    this.phones = Array.from({ length: 4 }, () => `+573${random.between(100_000_000, 199_999_999)}`);
  }

  async waiting(): Promise<Waiting[]> {
    return (await database.query<Waiting>(WAITING)).rows;
  }

  /** `workers` take up what is due, at once. Each send has to be one that may go out. */
  async turn(result: Result, { workers = 1, room = 1000 } = {}): Promise<void> {
    await database.query(RESET, [room]);
    const before = await this.waiting();
    const send = async (message: OutgoingMessage) => {
      try {
        this.judge(message, before);
      } catch (error) {
        // The turn takes an error of the channel for a send without an answer.
        this.wrong.push((error as Error).message);
      }
      const answer = await result(message);
      if (answer?.kind !== 'retry') this.done.add(message.messageId);
      if (answer?.kind === 'accepted') this.accepted.push(message);
      if (answer === null) return new Promise<never>(() => {});
      return answer;
    };
    const limits = {
      ...{ messagesPerSecond: null, pairMs: 0, recipientsPerDay: null },
      ...{ messagesPerPhone: MOST.messages, rejectionsPerPhone: MOST.rejected },
    };
    const turns = Array.from({ length: workers }, async () => {
      const { concluded } = await deliverDue(
        deliveryContext(store, { send }, { limits }),
        new AbortController().signal,
      );
      return { concluded };
    });
    for (const { concluded } of await Promise.all(turns)) await Promise.race([concluded, this.lost(result)]);
  }

  /** Resolves at once where some sends get no answer. */
  lost(result: Result): Promise<void> {
    return result === DIES ? Promise.resolve() : new Promise(() => {});
  }

  judge(message: OutgoingMessage, before: readonly Waiting[]): void {
    const own = before.find(({ id }) => id === message.messageId);
    const what = `${message.type} of application ${message.applicationId}`;
    assert.ok(own?.status === 'queued' && own.fits, `${what} was not to be sent: ${own?.status}`);
    assert.ok(!this.done.has(message.messageId), `${what} goes out again`);
    assert.ok(!this.silent.has(message.applicationId), `${what}: no consent`);
    assert.ok(!this.suppressed.has(message.phone), `${what}: suppressed`);
    const { partner } = own;
    const day = this.sent.filter(
      (one) => one.message.phone === message.phone && one.atMs > this.nowMs - DAY_MS,
    );
    const others = day.filter((one) => one.message.messageId !== message.messageId);
    const ids = (some: readonly Sent[]) => new Set(some.map((one) => one.message.messageId)).size;
    assert.ok(ids(others) < MOST.messages, `${what}: the phone has had its messages`);
    if (message.type === 'rejected') {
      const rejected = others.filter((one) => one.message.type === 'rejected');
      assert.ok(ids(rejected) < MOST.rejected, `${what}: the phone has had its rejection`);
    }
    const later = before.filter(
      (one) => one.phone === own.phone && one.partner === partner && isLater(one, message),
    );
    const waits = later.filter((one) => one.status === 'queued' && one.fits);
    assert.deepEqual(waits, [], `${what} goes out before a later one that waits`);
    const wentOut = later.filter((one) => others.some((other) => other.message.messageId === one.id));
    assert.deepEqual(wentOut, [], `${what} goes out after a later one`);
    this.sent.push({ message, partner, atMs: this.nowMs });
  }

  async check(): Promise<void> {
    assert.deepEqual(this.wrong, []);
    await assertInStep(database);
    assert.deepEqual((await database.query(UNNOTED)).rows, [], 'a rejection that waits is not noted');
  }
}

const acceptedOf = ({ callback }: OutgoingMessage): SendResult => ({
  kind: 'accepted',
  channelMessageId: `wamid.${callback}`,
});
const DIES = () => null;
const FOR_NOW: SendResult = { kind: 'retry', reason: '1', afterMs: 0 };

/** What may happen, each as often as it stands there. */
const ACT: Readonly<Record<string, (story: Story) => Promise<unknown>>> = {
  register: async (story) => {
    const { random } = story;
    for (let n = 0; n < 4; n += 1) {
      const consents = random.isLucky(0.9);
      const kind = [{}, IN_REVIEW, REJECTED, REJECTED, REJECTED][random.between(0, 4)];
      const phone = toPhone(anyOf(story, story.phones) as string);
      const key = keys[random.isLucky(0.8) ? 0 : 1] as number;
      const [id] = await registered(key, [applicant({ ...kind, phone, messaging_optin: consents })]);
      if (id === undefined || id === 0) continue;
      story.applications.push(id);
      if (!consents) story.silent.add(id);
    }
  },
  review: async (story) => {
    const action = (['approve', 'reject', 'disburse'] as const)[story.random.between(0, 2)]!;
    const id = anyOf(story, story.applications.slice(-3));
    if (id !== undefined) {
      await reviewApplication(operator, toApplicationId(id), action, 'x', 'unspecified').catch(() => {});
    }
  },
  turn: (story) => story.turn(acceptedOf),
  'two workers': (story) => story.turn(acceptedOf, { workers: 2 }),
  'room for one': (story) => story.turn(acceptedOf, { room: 1 }),
  'some wait': async (story) => {
    const queued = (await story.waiting()).filter(({ status }) => status === 'queued');
    const some = queued.filter(() => story.random.isLucky(0.3)).map(({ id }) => id);
    if (some.length > 0) await setMessages(database, some, { reason: 'contact_window', dueInMs: 3_600_000 });
  },
  'refused for now': (story) =>
    story.turn(async () => {
      await forgetRejections(database);
      return FOR_NOW;
    }),
  'refused for good': (story) => story.turn(() => ({ kind: 'give_up', reason: '131026' })),
  'no answer': (story) => story.turn(() => ({ kind: 'uncertain', reason: 'timeout' })),
  'the worker dies': (story) => story.turn(DIES),
  'leases end': async () => {
    await endLeases(database);
    await findLost(database, 0);
  },
  event: async (story) => {
    const message = anyOf(story, story.accepted);
    if (message === undefined) return;
    const status = (['sent', 'delivered', 'read', 'failed', 'failed'] as const)[story.random.between(0, 4)]!;
    const failure = status === 'failed' ? FOR_NOW : null;
    const event = { kind: 'status', channelMessageId: `wamid.${message.callback}`, at: new Date() } as const;
    await applyChannelEvents(operator, [
      { ...event, callback: message.callback, status, failure: failure as never },
    ]);
    const own = (await story.waiting()).find(({ id }) => id === message.messageId);
    if (own?.status === 'queued') story.done.delete(message.messageId);
  },
  retry: async (story) => {
    const id = anyOf(story, story.applications);
    if (id === undefined) return;
    for (const message of await retryMessages(database, toApplicationId(id))) story.done.delete(message.id);
  },
  cancel: async (story) => {
    const id = anyOf(story, story.applications);
    if (id !== undefined) await cancelMessages(database, toApplicationId(id));
  },
  suppress: async (story) => {
    const phone = anyOf(story, story.phones) as string;
    if (story.suppressed.delete(phone)) await liftSuppression(database, phoneIndexOf(vault, toPhone(phone)));
    else {
      story.suppressed.add(phone);
      await addSuppression(database, phoneIndexOf(vault, toPhone(phone)));
    }
  },
  template: async ({ random }) => {
    const name = `ventanilla_${TYPES[random.between(0, 2)]}`;
    if (!(await resumeTemplate(database, name))) await pauseTemplate(database, name, '132001');
  },
  upkeep: async () => {
    await forgetRejections(database);
    await forgetRecipients(database);
    await foldRows(database, MESSAGE_COUNTS);
  },
  'time passes': () => makeDue(database),
  'a day passes': async (story) => {
    // With nothing left open, paused or suppressed, the next day has more to send.
    for (const id of story.applications) {
      for (const action of story.random.isLucky(0.3)
        ? (['reject'] as const)
        : (['approve', 'disburse'] as const)) {
        await reviewApplication(operator, toApplicationId(id), action, 'x', 'unspecified').catch(() => {});
      }
    }
    await lift(story);
    story.nowMs += DAY_MS;
    await database.query(PASS_DAY, [`${DAY_MS} milliseconds`, DAY_MS]);
    await forgetRecipients(database);
    await makeDue(database);
  },
};
const OFTEN = [
  ...[
    'register',
    'register',
    'register',
    'register',
    'register',
    'register',
    'some wait',
    'some wait',
    'some wait',
  ],
  ...[
    'review',
    'review',
    'review',
    'a day passes',
    'a day passes',
    'time passes',
    'refused for now',
    'turn',
    'event',
  ],
];

function anyOf<T>({ random }: Story, items: readonly T[]): T | undefined {
  return items[random.between(0, Math.max(items.length - 1, 0))];
}

for (let n = 0; n < STORIES; n += 1) {
  const seed = SEED + n;
  it(`D33, D42: a story of ${ACTS} acts (SEED=${seed})`, async () => {
    await emptyApplications(database);
    await database.query('TRUNCATE recipients, suppressions, paused_templates');
    const story = new Story(new Random(seed));
    const names = [...Object.keys(ACT), ...OFTEN];
    const told: string[] = [];
    try {
      for (let act = 0; act < ACTS; act += 1) {
        const name = names[story.random.between(0, names.length - 1)] as string;
        told.push(name);
        await (ACT[name] as (story: Story) => Promise<unknown>)(story);
        await story.check();
      }
      await finish(story);
    } catch (error) {
      throw new Error(`SEED=${seed}: ${told.join(', ')}`, { cause: error });
    }
  });
}

/** Nobody is suppressed and nothing is paused any more. */
async function lift(story: Story): Promise<void> {
  for (const phone of story.suppressed) await liftSuppression(database, phoneIndexOf(vault, toPhone(phone)));
  story.suppressed.clear();
  for (const type of TYPES) await resumeTemplate(database, `ventanilla_${type}`);
}

/** Nothing holds any message back any more: each one ends, and none is lost. */
async function finish(story: Story): Promise<void> {
  await ACT['leases end']!(story);
  for (let day = 0; day < 3; day += 1) {
    await ACT['a day passes']!(story);
    await story.turn(acceptedOf);
    await story.check();
  }
  const messages = await story.waiting();
  assert.deepEqual(
    messages.filter(({ status }) => status === 'queued' || status === 'sending'),
    [],
  );
  const first = messages.filter(({ id, application }) => id === toMessageId(`${application}`));
  const told = story.applications.filter((id) => !story.silent.has(id));
  assert.deepEqual(first.map(({ application }) => application).toSorted(), told.toSorted());
}
