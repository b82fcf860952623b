/**
 * Ten operators answer everybody in the inbox while their processes die, their claims end, and answers are lost: nobody
 * is answered twice, and nobody is forgotten (docs/operators.md, "The inbox"). `INBOX=500` sets how many persons wait.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import {
  claimNextOfInbox,
  type InboxCall,
  releaseConversation,
  replyInInbox,
} from '../../src/subjects/desk/uses/inbox.ts';
import { Refusal } from '../../src/subjects/desk/uses/refusal.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { Crash, Dying } from '../support/dying.ts';
import { registrarOf } from '../support/intake.ts';
import { Random } from '../support/random.ts';

const PERSONS = Number(process.env.INBOX ?? 40);
const OPERATORS = 10;
/** More statements than a claim and a reply have, so that some processes live. */
const MOST_STATEMENTS = 60;

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const desk = await startTestConsole(store, []);
const operators = await Promise.all(
  Array.from({ length: OPERATORS }, async (_, n) => (await desk.enrolled(`op${n}`, 'reviewer')).id),
);
const random = new Random(36);

/** Persons who wait for an operator; the windows of some are about to close. */
async function waiting(): Promise<number[]> {
  const ids = await register(
    key,
    Array.from({ length: PERSONS }, (_, n) =>
      applicant({ ...IN_REVIEW, id_number: `77${n}`, phone: toPhone(`+57304${5_000_000 + n}`) }),
    ),
  );
  await database.query(
    `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, held_by, place, waits_since, heard_at)
     SELECT id, $2, id, 'in_review', 1, 'operator', 'earnings', now(), now() - (id % 20) * interval '1 hour'
     FROM unnest($1::bigint[]) AS id`,
    [ids, partner],
  );
  return ids as number[];
}

/** A process of an operator's browser and of the service that answers it. It may die at any statement. */
function processOf() {
  const at = random.between(1, MOST_STATEMENTS);
  const dying = new Dying({ at, isAfter: random.next() < 0.5 });
  dying.arm();
  return { database: dying.over(runtime), vault, clock: machineClock, terms: async () => null };
}

/** What the operator does is sent again with its key by another process where one died. Null: it was refused. */
async function again<T>(work: (context: ReturnType<typeof processOf>) => Promise<T>): Promise<T | null> {
  for (;;) {
    try {
      return await work(processOf());
    } catch (error) {
      if (error instanceof Refusal) return null;
      if (!(error instanceof Crash)) throw error;
    }
  }
}

async function works(operatorId: number): Promise<void> {
  const claimer = { operatorId, page: randomUUID() };
  for (;;) {
    const claimKey = randomUUID();
    const id = await again((context) => claimNextOfInbox(context, claimer, claimKey));
    if (id === null) return;
    // Some browsers close here for good, and some operators are so slow that their claim ends.
    const fate = random.next();
    if (fate < 0.3) await endClaims(operatorId);
    if (fate < 0.15) continue;
    const call: InboxCall = { id, claimer, key: randomUUID() };
    await again((context) => replyInInbox(context, call, `Hola, soy ${operatorId}`));
    if (random.next() < 0.5) await again((context) => releaseConversation(context, id, claimer));
  }
}

/** Claims that somebody takes at this moment go on: to wait for several of them could be a deadlock. */
function endClaims(operatorId: number) {
  return database.query(
    `UPDATE inbox_claims SET claimed_until = now() - interval '1 second' WHERE application_id IN (
       SELECT application_id FROM inbox_claims WHERE operator_id = $1 FOR UPDATE SKIP LOCKED)`,
    [operatorId],
  );
}

it(`ten operators answer ${PERSONS} persons once each, with deaths at any statement`, async () => {
  const ids = await waiting();
  for (let rounds = 0; rounds < 100; rounds += 1) {
    await Promise.all(operators.map(works));
    const { rowCount } = await database.query('SELECT FROM conversations WHERE waits_since IS NOT NULL');
    if (rowCount === 0) break;
    // Those whose browser closed: their claims end by themselves after two minutes.
    await Promise.all(operators.map(endClaims));
  }
  const { rows } = await database.query<{ id: number; replies: number; acts: number; waits: boolean }>(
    `SELECT c.application_id::float8 AS id, c.waits_since IS NOT NULL AS waits,
       (SELECT count(*)::integer FROM replies r WHERE r.application_id = c.application_id) AS replies,
       (SELECT count(*)::integer FROM operator_events e WHERE e.application_id = c.application_id) AS acts
     FROM conversations c ORDER BY c.application_id`,
  );
  assert.deepEqual(
    rows,
    ids.toSorted((a, b) => a - b).map((id) => ({ id, waits: false, replies: 1, acts: 1 })),
  );
});
