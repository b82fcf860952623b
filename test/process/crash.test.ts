/** After power cuts and `kill -9`, every acknowledged batch is stored once and whole. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anApplication } from '../support/service.ts';
import {
  type Answer,
  demoKeyOf,
  isAlive,
  killHard,
  newDataDir,
  postmasterPid,
  query,
  type ServiceProcess,
  startService,
  submit,
  submitOnce,
  until,
  ventanillaJson,
} from './support.ts';

const BATCH = 100;
const CONCURRENT = 4;
/** Enough batches to be sure that the kill comes during the traffic. */
const ANSWERED_BEFORE = 12;

interface Batch {
  readonly idempotencyKey: string;
  readonly applications: Record<string, unknown>[];
  /** null: no answer came. */
  answer: Answer | null;
}

interface Stored {
  readonly id: number;
  readonly id_number: string;
  readonly phone: string | null;
  readonly status: string;
}

/**
 * Sends batches until the connection dies. Some applications repeat phones of other batches, and some have no phone.
 */
class Traffic {
  readonly batches: Batch[] = [];
  readonly #loops: Promise<void>[];

  constructor(service: ServiceProcess, apiKey: string) {
    this.#loops = Array.from({ length: CONCURRENT }, () => this.#loop(service, apiKey));
  }

  get answered(): number {
    return this.batches.filter(({ answer }) => answer !== null).length;
  }

  ended(): Promise<unknown> {
    return Promise.all(this.#loops);
  }

  async #loop(service: ServiceProcess, apiKey: string): Promise<void> {
    for (;;) {
      const batch = this.#next();
      this.batches.push(batch);
      try {
        batch.answer = await send(service, apiKey, batch, submitOnce);
      } catch {
        return;
      }
      if (batch.answer.status !== 200) return;
    }
  }

  #next(): Batch {
    const number = this.batches.length;
    const applications = Array.from({ length: BATCH }, (_, position) => {
      if (position % 10 === 3)
        return anApplication({ phone: `+57302${String((number * 7 + position) % 97).padStart(7, '0')}` });
      if (position % 10 === 6) return anApplication({ phone: null });
      // A debt above the limit is rejected, so the phone stays free and the message has another type.
      if (position % 10 === 9) return anApplication({ debt_amount: 200_000_000 });
      return anApplication();
    });
    return { idempotencyKey: `batch ${number}`, applications, answer: null };
  }
}

function send(service: ServiceProcess, apiKey: string, batch: Batch, post = submit): Promise<Answer> {
  return post(service, apiKey, batch.applications, { 'Idempotency-Key': batch.idempotencyKey });
}

/** Sends traffic, crashes, starts normally and checks every promise from before the crash. */
async function crashAndCheck(
  crash: (service: ServiceProcess, postmaster: number) => Promise<void>,
): Promise<void> {
  const dataDir = newDataDir();
  const first = await startService(dataDir);
  const apiKey = demoKeyOf(first);
  const traffic = new Traffic(first, apiKey);
  await until('traffic', () => traffic.answered >= ANSWERED_BEFORE);
  await crash(first, postmasterPid(dataDir) ?? 0);
  await traffic.ended();
  const { batches } = traffic;
  const lost = batches.filter(({ answer }) => answer?.status !== 200);
  assert.ok(lost.length > 0, 'the crash came in the middle of requests');

  const second = await startService(dataDir);
  assert.doesNotMatch(second.out, /vtn_/);
  const before = await storedByIdNumber(dataDir);
  // A batch is stored as a whole or not at all, also where its answer was lost (D15).
  const storedOf = ({ applications }: Batch, stored: Map<string, Stored>) =>
    applications.filter(({ id_number }) => stored.has(id_number as string)).length;
  const wasStored = new Map(lost.map((batch) => [batch, storedOf(batch, before)]));

  for (const batch of lost) {
    // An answer at the last moment may say that nothing was stored (D37), and nothing else.
    if (batch.answer !== null) assert.deepEqual([batch.answer.status, wasStored.get(batch)], [500, 0]);
    batch.answer = await send(second, apiKey, batch);
    assert.equal(batch.answer.status, 200);
    const { processed } = batch.answer.body;
    if (batch.answer.replayed) assert.equal(wasStored.get(batch), processed);
    else assert.equal(wasStored.get(batch), 0, 'half a batch was stored');
  }
  const repeated = batches.find((batch) => !lost.includes(batch)) as Batch;
  const again = await send(second, apiKey, repeated);
  assert.ok(again.replayed);
  assert.deepEqual(again.body, repeated.answer?.body);

  const stored = await storedByIdNumber(dataDir);
  let acknowledged = 0;
  for (const { answer } of batches) {
    for (const { id, id_number } of answer?.body.results ?? []) {
      assert.equal(stored.get(id_number)?.id, id);
      acknowledged += 1;
    }
  }
  // Every application has its own ID number: exactly the acknowledged ones are stored, each once.
  assert.equal(stored.size, acknowledged);
  assertPhonesOpenOnce([...stored.values()]);
  await assertMessagesWhole(dataDir);
  assert.equal((await second.stop()).code, 0);
}

async function storedByIdNumber(dataDir: string): Promise<Map<string, Stored>> {
  const list: Stored[] = await ventanillaJson(dataDir, 'application', 'list', '--reveal', '--reason', 'test');
  const byIdNumber = new Map(list.map((application) => [application.id_number, application]));
  assert.equal(byIdNumber.size, list.length, 'an application is stored twice');
  return byIdNumber;
}

function assertPhonesOpenOnce(stored: readonly Stored[]): void {
  const open = stored
    .filter(({ status, phone }) => phone !== null && ['in_review', 'pending_signature'].includes(status))
    .map(({ phone }) => phone);
  assert.ok(open.length > 0);
  assert.equal(new Set(open).size, open.length, 'a phone has two open applications');
}

/** D33: every application has its message, and every message its application. */
async function assertMessagesWhole(dataDir: string): Promise<void> {
  const [counts] = await query(
    dataDir,
    `SELECT count(*) FILTER (WHERE due AND m.application_id IS NULL)::int AS lacking,
       count(*) FILTER (WHERE NOT coalesce(due, false) AND m.application_id IS NOT NULL)::int AS superfluous,
       count(*) FILTER (WHERE due)::int > 0 AS some
     FROM (SELECT id, messaging_optin AND phone_index IS NOT NULL AS due FROM applications) a
     FULL JOIN messages m ON m.application_id = a.id`,
  );
  assert.deepEqual(counts, { lacking: 0, superfluous: 0, some: true });
}

describe('after a crash every acknowledged batch is stored', { concurrency: 2 }, () => {
  test('kill -9 of the service, while its server runs on', () =>
    crashAndCheck(async (service, postmaster) => {
      await service.kill();
      assert.ok(isAlive(postmaster));
    }));

  test('kill -9 of service and server together', () =>
    crashAndCheck(async (service, postmaster) => {
      await Promise.all([service.kill(), killHard(postmaster)]);
    }));
});
