/**
 * What persons send comes to the store in any order, twice, late or never, and comes to what the rules alone make of it
 * in the channel's order (D43): state for state and word for word. What came after a turn is taken by a later one; that
 * alone depends on when the channel delivers.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { State } from '../../src/domain/conversation/state.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { type InputRow, openInput, type SealedInput } from '../../src/subjects/conversation/sql/inputs.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodPerformer, goodSigning } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { Random } from '../support/random.ts';
import { TurnModel } from '../support/turn-model.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const WITHDRAWAL = { until: new Date('2030-12-01T05:00:00Z'), lastDay: '2030-11-30' };
/** Each contract is another one. */
let contracts = 0;
/** What was signed: the application, the contract, and the turn that showed it. */
const signed: { id: number; contract: string; shownTurn: number }[] = [];
const performer = goodPerformer({
  readDocument: async (_order, { mediaId }) => (mediaId === 'locked' ? { refused: 'locked' } : 'accepted'),
  checkIncome: async ({ applicationId }) => (Number(applicationId) % 7 === 0 ? 'operator' : 'confirmed'),
  makeContract: async () => ({
    ...{ sha256: hash('sha256', `contract ${++contracts}`), mediaId: `media.${contracts}` },
    ...{ filename: 'contrato.pdf', costs: 'costs' },
  }),
});
const signing = goodSigning({
  sign: async (_session, id, { contract, shownTurn }) => {
    signed.push({ id: Number(id), contract, shownTurn });
    return { result: 'signed', evidence: [], withdrawal: WITHDRAWAL };
  },
});
const chat = await conversationsOf(store, key, { performer, signing });
type Applicant = Awaited<ReturnType<typeof chat.applicantAt>>;

/** Words of a person. */
const WORDS = [
  ...[
    'sí',
    'no',
    'acepto',
    'ya envié todo',
    'seguir sin esto',
    'gracias',
    'hola',
    'Banco Azul 1.500.000',
    'cambiar la lista',
    '¿cuánto es?',
    '👍',
  ],
  ...['1234', '123456', '999999', 'otro código'],
] as const;
/** Words after which a conversation does not go on. */
const LAST_WORDS = ['asesor', 'me retiro', 'BAJA', 'cancelar', 'número equivocado', 'no autorizo'] as const;
const act = fc.oneof(
  // What the question asks for: so most conversations go on.
  { weight: 24, arbitrary: fc.record({ kind: fc.constant('right' as const), inWords: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('word' as const), body: fc.constantFrom(...WORDS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('word' as const), body: fc.constantFrom(...LAST_WORDS) }),
  },
  // A button of the newest replies, the newest first.
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('button' as const), back: fc.nat(3), index: fc.nat(1) }),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...(['good', 'locked', 'voice', 'interest'] as const).map((kind) => ({ kind }) as const),
    ),
  },
);
const sent = fc.record({
  act,
  // Two messages may come within a second, which is as much as the channel tells.
  seconds: fc.nat(1),
  fate: fc.oneof(
    { weight: 6, arbitrary: fc.constant('once' as const) },
    { weight: 3, arbitrary: fc.constantFrom('twice', 'again', 'late', 'late', 'lost') },
  ),
});
/** What a person does between two turns, by the person's own clock. */
const rounds = fc.array(fc.array(sent, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 14 });
const crowd = fc.record({
  persons: fc.array(rounds, { minLength: 1, maxLength: 20, size: 'max' }),
  seed: fc.nat(),
});

type Round = typeof rounds extends fc.Arbitrary<infer T> ? T : never;
type Sent = Round[number][number];

const ROUND_MS = 60_000;
/** Replies arrive between the messages of two rounds. */
const ARRIVES_MS = 30_000;

/** A message under way. */
interface Message {
  readonly event: ChannelEvent & { messageId: string };
  readonly content: SealedInput;
  readonly atMs: number;
}

/** A person, the store's conversation with them, and the model's. */
class Person {
  readonly ana: Applicant;
  readonly model: TurnModel;
  readonly #rounds: Round;
  /** Come in a later round. */
  #late: Message[] = [];
  readonly #heard = new Set<string>();
  #waiting: Message[] = [];

  constructor(ana: Applicant, own: Round) {
    this.ana = ana;
    this.#rounds = own;
    this.model = new TurnModel(toApplicationId(ana.id), {
      lastDay: '30 de noviembre de 2030',
      untilMs: WITHDRAWAL.until.getTime(),
    });
  }

  get heard(): number {
    return this.#heard.size;
  }

  /** What the channel tells in a round, in the order of its deliveries. The first round is the tap. */
  async deliveries(round: number, beginsMs: number, random: Random): Promise<ChannelEvent[]> {
    const own: readonly Sent[] =
      round === 0
        ? [{ act: { kind: 'interest' }, seconds: 0, fate: 'once' }]
        : (this.#rounds[round - 1] ?? []);
    const coming = this.#late;
    this.#late = [];
    let atMs = beginsMs;
    for (const { act: what, seconds, fate } of own) {
      atMs += seconds * 1_000;
      const message = await this.#message(what, atMs);
      if (fate === 'late' || fate === 'again') this.#late.push(message);
      if (fate === 'twice') coming.push(message);
      if (fate !== 'late' && fate !== 'lost') coming.push(message);
    }
    const delivered = random.shuffled(coming);
    this.#waiting = delivered.filter(({ event: { messageId } }) => {
      const isNew = !this.#heard.has(messageId);
      this.#heard.add(messageId);
      return isNew;
    });
    return delivered.map(({ event }) => event);
  }

  /** The turns of a round as the rules have them; `ends`: the ends of work by turn, as the store has them. */
  takeTurns(ends: readonly (readonly SealedInput[])[], arrivesMs: number): void {
    if (this.#waiting.length === 0) {
      assert.equal(ends.length, 0, 'work without a turn');
      return;
    }
    // A stable order: of equal times the one that came first.
    const inOrder = this.#waiting.toSorted((a, b) => a.atMs - b.atMs);
    let work = this.model.take(inOrder, arrivesMs);
    for (const some of ends) {
      assert.equal(some.length, work.length, `work: ${work.join()}; ends: ${JSON.stringify(some)}`);
      work = this.model.take(
        some.map((content) => ({ content, atMs: null })),
        arrivesMs,
      );
    }
    assert.deepEqual(work, [], 'work without an end');
  }

  async #message(what: Sent['act'], atMs: number): Promise<Message> {
    const at = new Date(atMs);
    const file = async (media: 'document' | 'audio', mediaId: string) => ({
      ...(await this.ana.fileEvent(mediaId)),
      ...{ at, media },
    });
    const text = (body: string) => this.ana.textEvent(body, at);
    const event = (await (async () => {
      switch (what.kind) {
        case 'right':
          return this.#right(at, what.inWords);
        case 'word':
          return text(what.body);
        case 'button': {
          const payload = (await this.ana.replies()).at(-1 - what.back)?.buttons[what.index]?.payload;
          return payload === undefined ? text('hola') : this.ana.tapEvent(payload, at);
        }
        case 'interest':
          return this.ana.tapEvent(undefined, at);
        case 'voice':
          return file('audio', 'voice');
        default:
          return file('document', what.kind);
      }
    })()) as Message['event'];
    return { event, content: contentOf(event, atMs), atMs };
  }

  /** What the open question asks for. */
  async #right(at: Date, inWords: boolean): Promise<ChannelEvent> {
    const { place, files, proof } = this.model.state;
    if (place === 'earnings' || place === 'debts')
      return files[place] > 0
        ? this.ana.textEvent('ya envié todo', at)
        : ({ ...(await this.ana.fileEvent('good')), at } as ChannelEvent);
    if (place === 'code') return this.ana.textEvent(proof === 'none' ? '1234' : '123456', at);
    if (inWords && (place === 'data_consent' || place === 'summary' || place === 'contract'))
      return this.ana.textEvent('acepto', at);
    const asked = (await this.ana.replies()).findLast(({ buttons }) => buttons.length > 0);
    return asked === undefined
      ? this.ana.textEvent('gracias', at)
      : this.ana.tapEvent(asked.buttons[0]!.payload, at);
  }
}

function contentOf(event: ChannelEvent, sentMs: number): SealedInput {
  switch (event.kind) {
    case 'tap':
      return event.payload.startsWith('c.')
        ? { kind: 'tap', payload: event.payload, ...{ sentMs } }
        : { kind: 'interest' };
    case 'text':
      return { kind: 'text', body: event.body };
    case 'file':
      return { ...event, kind: 'file' };
    default:
      throw new Error(`a person sends no ${event.kind}`);
  }
}

/** Turns, deliveries and work until nothing is left; every work of one turn ends before the next turn. */
async function settle(): Promise<void> {
  await chat.skipPause();
  await untilDone(async () => {
    const turns = await takeTurns(chat.context);
    await chat.deliver();
    let performed = 0;
    for (let more = -1; more !== performed; ) {
      more = performed;
      performed += (await chat.perform('files')) + (await chat.perform('others'));
    }
    return turns + performed === 0;
  });
}

const ENDS = `
  SELECT application_id::float8 AS "applicationId", seal_id AS "sealId", content, turn FROM conversation_inputs
  WHERE application_id = $1 AND source = 'work' AND turn > $2 ORDER BY turn, at, id`;

/** The ends of work that turns after this one took. */
async function endsAfter(id: number, turn: number): Promise<SealedInput[][]> {
  const { rows } = await database.query<InputRow & { turn: number }>(ENDS, [id, turn]);
  const byTurn = Map.groupBy(rows, (row) => row.turn);
  return [...byTurn.values()].map((some) => some.map((row) => openInput(vault, row)));
}

async function play({ persons, seed }: { persons: readonly Round[]; seed: number }): Promise<Person[]> {
  const random = new Random(seed);
  const everybody: Person[] = [];
  for (const own of persons) everybody.push(new Person(await chat.applicantAt(APPROVED), own));
  const most = Math.max(...persons.map(({ length }) => length)) + 2;
  const beganMs =
    Math.floor((await databaseTime(database)).getTime() / 1_000) * 1_000 - (most + 1) * ROUND_MS;
  for (let round = 0; round < most; round += 1) {
    const beginsMs = beganMs + round * ROUND_MS;
    const turns = new Map<Person, number>();
    const told: ChannelEvent[][] = [];
    for (const person of everybody) {
      turns.set(person, (await person.ana.row())?.turn ?? 0);
      told.push(await person.deliveries(round, beginsMs, random));
    }
    for (const events of inDeliveries(told, random)) await chat.hear(...events);
    await settle();
    const arrivesMs = beginsMs + ARRIVES_MS;
    for (const person of everybody) {
      const { id } = person.ana;
      await database.query('UPDATE replies SET delivered_at = $3 WHERE application_id = $1 AND turn > $2', [
        id,
        turns.get(person),
        new Date(arrivesMs),
      ]);
      try {
        person.takeTurns(await endsAfter(id, turns.get(person)!), arrivesMs);
        await compare(person);
      } catch (cause) {
        const own = JSON.stringify(persons[everybody.indexOf(person)]);
        throw new Error(`in round ${round} of ${own}: ${(cause as Error).message}`, { cause });
      }
    }
  }
  return everybody;
}

/** Deliveries of the channel: each has messages of several persons, and every person's come in their order. */
function* inDeliveries(told: readonly ChannelEvent[][], random: Random): Generator<ChannelEvent[]> {
  const left = told.map((events) => [...events]);
  while (left.some(({ length }) => length > 0))
    yield left.flatMap((events) => events.splice(0, random.between(0, 3)));
}

/** The store has what the model has, and took each message once. */
async function compare({ ana, model, heard }: Person): Promise<void> {
  const row = await ana.row();
  assert.deepEqual(row.state as State, model.state);
  assert.deepEqual(
    (await ana.replies()).map(({ text }) => text),
    model.replies,
  );
  const { rows } = await database.query(
    `SELECT count(*)::integer AS stored, count(turn)::integer AS taken FROM conversation_inputs
    WHERE application_id = $1 AND source = 'person'`,
    [ana.id],
  );
  assert.deepEqual(rows[0], { stored: heard, taken: heard });
  const late = await database.query('SELECT FROM replies WHERE application_id = $1 AND turn >= $2', [
    ana.id,
    model.optedOutAt ?? 1_000_000,
  ]);
  assert.equal(late.rows.length, 0, 'a reply after an opt-out');
}

it('D43, D46: in any order, doubled, late or lost, messages come to what the rules make of those that came', async () => {
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(crowd, async (one) => {
      signed.length = 0;
      const everybody = await play(one);
      for (const { id, contract, shownTurn } of signed) {
        const shown = await database.query(
          'SELECT status FROM replies WHERE application_id = $1 AND turn = $2',
          [id, shownTurn],
        );
        assert.equal(shown.rows[0]?.status, 'delivered');
        const { ana } = everybody.find((person) => person.ana.id === id)!;
        const words = contract.match(/.{8}/g)!.join(' ');
        assert.ok(
          (await ana.replies()).some(({ text }) => text.includes(words)),
          'a contract that nobody saw',
        );
      }
      for (const { model } of everybody) ends.set(model.state.place, (ends.get(model.state.place) ?? 0) + 1);
    }),
    // A failure tells the seed and the one person whom it is about.
    { numRuns: 6, endOnFailure: true },
  );
  const far = ['contract', 'code', 'signed'].map((place) => ends.get(place) ?? 0);
  assert.ok(far[0]! + far[1]! + far[2]! > 0, JSON.stringify([...ends]));
});
