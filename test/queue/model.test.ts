/**
 * The kit of queues on a store of its own, with faults drawn by a seed between any two steps (D33, D41): statements
 * that fail before and after they hold, processes that die, rows that stop the others. No row is lost, none is done
 * more often than its lease allows, a bad row ends alone, the rows of an application keep their order, no partner
 * starves, and a stop takes a bounded time. `SEED` gives the same stories again.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { type PartnerId, toPartnerId } from '../../src/domain/partner/credential.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { type Begun, startQueue, type Turn } from '../../src/program/queue/queue.ts';
import { RetryingWriter } from '../../src/program/queue/retrying-writer.ts';
import { takeUp } from '../../src/program/queue/take-up.ts';
import type { Loop } from '../../src/program/subject/subject.ts';
import { Random } from '../support/random.ts';
import { TestClock } from '../support/test-clock.ts';

const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));
const STORIES = 2;
const PARTNERS = 4;
const ROWS = 160;
/** The first bad row comes after a whole claim of good ones. */
const EACH_BAD = 25;
const TOGETHER = 16;
const MOST = 12;
const MOST_OF_PARTNER = 5;
const LEASE_MS = 30_000;
const KEEP_MS = 12_000;
const CUT_MS = 4_000;
const LONGEST_WORK_MS = 2_000;
const MOST_TRIES = 4;

type Status = 'queued' | 'underway' | 'done' | 'aside' | 'uncertain';

interface Row {
  readonly id: number;
  readonly partnerId: PartnerId;
  readonly application: number;
  readonly isBad: boolean;
  status: Status;
  dueMs: number;
  leasedUntilMs: number;
  attempts: number;
  /** Works that began, and the records that let one begin again. */
  works: number;
  again: number;
}

interface Outcome {
  readonly id: number;
  readonly attempt: number;
  readonly isDone: boolean;
}

/** Faults as the driver gives them: no fault of a row, and the fault of one. */
const away = () => Object.assign(new Error('the server is away'), { code: 'ECONNRESET' });
const badRow = () => Object.assign(new Error('bad row'), { code: '22P02' });

/** What became of a process: of one that is dead nothing goes on. */
interface Life {
  isDead: boolean;
  isStopping: boolean;
}

/** A table with transactions. Each statement may fail before it holds, or after. */
class Store {
  readonly rows: Row[] = [];
  readonly locked = new Set<Row>();
  readonly clock: TestClock;
  readonly random: Random;
  /** What must not happen: a loop survives the error of a turn, so nothing is thrown. */
  readonly wrongs: string[] = [];
  faults = 0;

  constructor(clock: TestClock, random: Random, faults: number) {
    this.clock = clock;
    this.random = random;
    this.faults = faults;
  }

  add(row: Pick<Row, 'partnerId' | 'application' | 'isBad'>): Row {
    const made: Row = {
      ...{ ...row, id: this.rows.length, status: 'queued', dueMs: this.clock.monotonicMs() },
      ...{ leasedUntilMs: 0, attempts: 0, works: 0, again: 0 },
    };
    this.rows.push(made);
    return made;
  }

  expect(isFine: boolean, wrong: string): void {
    if (!isFine) this.wrongs.push(wrong);
  }

  isOver(row: Row): boolean {
    return row.status !== 'queued' && row.status !== 'underway';
  }

  /** One statement; that of a dead process never answers. */
  async statement<T>(life: Life, work: () => T): Promise<T> {
    await this.clock.sleep(this.random.between(0, 20));
    if (life.isDead) return new Promise(() => {});
    if (this.random.isLucky(this.faults)) throw away();
    const result = work();
    if (this.random.isLucky(this.faults)) throw away();
    return result;
  }

  /** Due rows that nobody has, those of partners with the least work first, and of an application the first one. */
  due(limit: number, held: readonly PartnerId[], isFree: (row: Row) => boolean): Row[] {
    const ofPartner = (id: PartnerId) => held.filter((one) => one === id).length;
    const taken = new Map<PartnerId, number>();
    const found: (Row & { turn?: number })[] = [];
    for (const row of this.rows) {
      if (row.dueMs > this.clock.monotonicMs() || this.locked.has(row) || !isFree(row)) continue;
      const earlier = this.rows.some(
        (one) => one.application === row.application && one.id < row.id && !this.isOver(one),
      );
      if (earlier) continue;
      const turn = (taken.get(row.partnerId) ?? ofPartner(row.partnerId)) + 1;
      taken.set(row.partnerId, turn);
      if (turn <= MOST_OF_PARTNER) found.push(Object.assign(row, { turn }));
    }
    return found.sort((a, b) => a.turn! - b.turn!).slice(0, limit);
  }

  /** Transactions as the driver has them; their statements say what to do by functions (`Client`). */
  database(life: Life): Database {
    return { connect: async () => new Client(this, life) } as unknown as Database;
  }
}

/** A session of the fake driver: what it writes holds with the commit. */
class Client {
  readonly #store: Store;
  readonly #life: Life;
  #locks: Row[] = [];
  #writes: (() => void)[] = [];

  constructor(store: Store, life: Life) {
    this.#store = store;
    this.#life = life;
  }

  lock(limit: number): Promise<Row[]> {
    return this.#store.statement(this.#life, () => {
      const rows = this.#store.due(limit, [], ({ status }) => status === 'queued');
      for (const row of rows) this.#store.locked.add(row);
      this.#locks.push(...rows);
      return rows;
    });
  }

  write(some: () => void): Promise<void> {
    return this.#store.statement(this.#life, () => void this.#writes.push(some));
  }

  async query(text: string): Promise<{ command: string }> {
    if (text.startsWith('BEGIN')) return { command: 'BEGIN' };
    if (text === 'ROLLBACK') this.#end();
    else {
      const isLate = this.#life.isStopping && this.#writes.length > 0;
      this.#store.expect(!isLate, 'a turn commits after the stop');
      await this.#store.statement(this.#life, () => {
        for (const write of this.#writes) write();
        this.#end();
      });
    }
    return { command: text };
  }

  release(): void {
    this.#end();
  }

  /** Also the server ends the transaction of a process that died. */
  #end(): void {
    for (const row of this.#locks) this.#store.locked.delete(row);
    this.#locks = [];
    this.#writes = [];
  }
}

/** A process with a loop, whose work is decided under locks, or leased. */
class Process {
  readonly life: Life = { isDead: false, isStopping: false };
  readonly #store: Store;
  readonly #clients: Client[] = [];
  readonly #writer: RetryingWriter<Outcome>;
  readonly #kind: 'locks' | 'leases';
  readonly #underway: Row[] = [];
  readonly #lost = new Set<number>();
  readonly loop: Loop;

  constructor(store: Store, kind: 'locks' | 'leases') {
    this.#store = store;
    this.#kind = kind;
    const { clock } = store;
    this.#writer = new RetryingWriter<Outcome>(KEEP_MS, {
      clock,
      store: (some) => store.statement(this.life, () => this.#record(some)),
      onLost: (some) => some.forEach(({ id }) => void this.#lost.add(id)),
    });
    this.loop = startQueue({
      clock,
      begin: (turn) => (kind === 'locks' ? this.#beginLocked(turn) : this.#beginLeased(turn)),
      most: MOST,
      onError: () => {},
    });
  }

  /** Its sessions end, and nothing of it goes on. */
  die(): void {
    this.life.isDead = true;
    for (const client of this.#clients) client.release();
  }

  /** As the outbox and the replies: decided under locks, sent after the commit. */
  async #beginLocked({ stopping, cut }: Turn): Promise<Begun[]> {
    const inner = this.#store.database(this.life);
    const connect = async () => {
      const client = (await inner.connect()) as unknown as Client;
      this.#clients.push(client);
      return client;
    };
    const rules = {
      most: TOGETHER,
      claim: (session: unknown, limit: number) => (session as Client).lock(limit),
      decide: async (session: unknown, rows: readonly Row[]) => {
        await (session as Client).write(() => {
          for (const row of rows) this.#take(row);
        });
        if (rows.some(({ isBad }) => isBad)) throw badRow();
        return rows;
      },
      setAside: (row: Row) =>
        this.#store.statement(this.life, () => {
          this.#store.expect(row.isBad, `good row ${row.id} was set aside`);
          row.status = 'aside';
        }),
    };
    const { taken } = await takeUp({ connect } as unknown as Database, rules, stopping);
    return (taken ?? []).map((row) => ({ ended: this.#work(row, row.attempts, cut) }));
  }

  /** As the pushes and the work of conversations: leased, by the partners' turns. */
  async #beginLeased({ room, held, cut }: Turn): Promise<Begun[]> {
    const rows = await this.#store.statement(this.life, () => {
      const nowMs = this.#store.clock.monotonicMs();
      const isFree = ({ status, leasedUntilMs }: Row) =>
        status === 'queued' || (status === 'underway' && leasedUntilMs <= nowMs);
      const due = this.#store.due(room, held, isFree);
      for (const row of due) this.#take(row);
      return due;
    });
    return rows.map((row) => ({
      partnerId: row.partnerId,
      ended: this.#work(row, row.attempts, cut),
    }));
  }

  #take(row: Row): void {
    const isFree = row.status === 'queued' || row.leasedUntilMs <= this.#store.clock.monotonicMs();
    this.#store.expect(isFree, `row ${row.id} was taken twice`);
    row.status = 'underway';
    row.attempts += 1;
    row.leasedUntilMs = this.#store.clock.monotonicMs() + LEASE_MS;
  }

  async #work(row: Row, attempt: number, cut: AbortSignal): Promise<void> {
    const { clock, random, rows } = this.#store;
    this.#underway.push(row);
    const ofPartner = this.#underway.filter(({ partnerId }) => partnerId === row.partnerId).length;
    const most = this.#kind === 'locks' ? MOST - 1 + TOGETHER : MOST;
    this.#store.expect(this.#underway.length <= most, 'too much work at once');
    this.#store.expect(this.#kind === 'locks' || ofPartner <= MOST_OF_PARTNER, 'too much of one partner');
    const earlier = rows.filter((one) => one.application === row.application && one.id < row.id);
    this.#store.expect(
      earlier.every((one) => this.#store.isOver(one)),
      `row ${row.id} is out of order`,
    );
    row.works += 1;
    await clock.sleep(random.between(0, LONGEST_WORK_MS), { signal: cut }).catch(() => {});
    if (this.life.isDead) return new Promise(() => {});
    if (!cut.aborted || this.#kind === 'locks') {
      await this.#writer.write({ id: row.id, attempt, isDone: !row.isBad && !random.isLucky(0.2) });
      const isOpen = row.status === 'underway' && row.attempts === attempt;
      this.#store.expect(!isOpen || this.#lost.has(row.id), `the outcome of row ${row.id} was not stored`);
    }
    this.#underway.splice(this.#underway.indexOf(row), 1);
  }

  /** Stops, and passes the time in which it has to end. */
  async end(): Promise<void> {
    let isOver = false;
    this.life.isStopping = true;
    void this.loop.stop();
    void this.loop.ended.then(() => {
      isOver = true;
    });
    await this.#store.clock.advance(CUT_MS + KEEP_MS + LONGEST_WORK_MS);
    assert.ok(isOver, 'the stop takes too long');
    assert.deepEqual(this.#store.wrongs, []);
  }

  /** A second run with the same outcomes changes nothing. */
  #record(some: readonly Outcome[]): void {
    const nowMs = this.#store.clock.monotonicMs();
    for (const { id, attempt, isDone } of some) {
      const row = this.#store.rows[id]!;
      if (row.status !== 'underway' || row.attempts !== attempt) continue;
      row.again += isDone ? 0 : 1;
      row.status = isDone ? 'done' : row.isBad && attempt >= MOST_TRIES ? 'aside' : 'queued';
      row.dueMs = nowMs + 1_000 * 2 ** Math.min(attempt, 3);
    }
  }
}

function storyOf(seed: number, faults: number, rows = ROWS) {
  const random = new Random(seed);
  const clock = new TestClock();
  const store = new Store(clock, random, faults);
  for (let n = 0; n < rows; n += 1) {
    // The first partner has most of the rows.
    const partnerId = toPartnerId(random.isLucky(0.7) ? 1 : random.between(2, PARTNERS));
    store.add({ partnerId, application: random.between(1, rows), isBad: n % EACH_BAD === EACH_BAD - 1 });
  }
  return { random, clock, store };
}

/** The sweep of sends whose process died: nobody knows whether they went out. */
function sweep(store: Store): void {
  const nowMs = store.clock.monotonicMs();
  for (const row of store.rows)
    if (row.status === 'underway' && row.leasedUntilMs <= nowMs) row.status = 'uncertain';
}

describe(`queues under faults and kills (SEED=${SEED})`, () => {
  for (const kind of ['locks', 'leases'] as const) {
    for (let n = 0; n < STORIES; n += 1) {
      it(`by ${kind}, story ${n + 1}`, async () => {
        const { random, clock, store } = storyOf(SEED + n, 0.05);
        const processes = [new Process(store, kind), new Process(store, kind)];
        for (let second = 0; second < 900 && !store.rows.every((row) => store.isOver(row)); second += 1) {
          await clock.advance(1_000);
          if (kind === 'locks') sweep(store);
          if (second === 60) store.faults = 0;
          if (second < 60 && random.isLucky(0.1)) {
            processes.shift()!.die();
            processes.push(new Process(store, kind));
          }
        }
        for (const row of store.rows) {
          const { id, isBad, status, works, again } = row;
          const fine: Status[] = kind === 'locks' ? ['done', 'uncertain'] : ['done'];
          assert.ok(isBad ? status === 'aside' : fine.includes(status), `row ${id} is ${status}`);
          // After a send nobody heard of, no other one follows.
          if (kind === 'locks') assert.ok(works <= 1 + again, `row ${id} went out ${works} times`);
        }
        assert.equal(store.locked.size, 0);
        for (const process of processes) await process.end();
      });
    }
  }
});

for (const kind of ['locks', 'leases'] as const) {
  it(`a stop in the middle of work ends in a bounded time, and leaves nothing half done: by ${kind}`, async () => {
    for (let ms = 0; ms < 12; ms += 1) {
      const { clock, store } = storyOf(SEED + ms, 0.05);
      const process = new Process(store, kind);
      await clock.advance(5 * ms);
      await process.end();
      const before = structuredClone(store.rows);
      await clock.advance(60_000);
      assert.deepEqual(store.rows, before);
      assert.equal(store.locked.size, 0);
    }
  });
}

it('a partner with one row waits for no backlog of another one', async () => {
  const clock = new TestClock();
  const store = new Store(clock, new Random(SEED), 0);
  for (let n = 0; n < 500; n += 1) store.add({ partnerId: toPartnerId(1), application: n, isBad: false });
  const process = new Process(store, 'leases');
  await clock.advance(10_000);
  const row = store.add({ partnerId: toPartnerId(2), application: 1_000, isBad: false });
  await clock.advance(LONGEST_WORK_MS + 1_000);
  assert.ok(row.works > 0, 'the row has not had its turn');
  assert.ok(store.rows.some(({ status }) => status === 'queued'));
  await process.end();
});
