/** An application in review that the loop has not reached yet is claimed and decided as any other one (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { queueRoutes } from '../../src/subjects/desk/routes/queue.ts';
import { expandReviews } from '../../src/subjects/desk/sql/expansion.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants } from '../support/erased.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, runtime } = store;
const desk = await proposalDesk(store, {
  more: ({ database, vault }) => [
    ...queueRoutes({ database, vault, dueHours: 24, terms: async () => null }),
    ...pendRoutes({ database, vault, clock: machineClock, dueHours: 24, terms: async () => null }),
  ],
});
const [ana, bob] = [await desk.operator('ana'), await desk.operator('bob')];
const register = await registrarOf(store);
let phones = 0;
const unexpanded = (count = 1) =>
  register(
    desk.key,
    Array.from({ length: count }, () =>
      applicant({ ...IN_REVIEW, phone: toPhone(`+57301${5_000_000 + ++phones}`) }),
    ),
  );
const item = async (id: number) =>
  (await database.query('SELECT state, claimed_by FROM review_items WHERE application_id = $1', [id]))
    .rows[0];
const DECISION = { act: 'approve', reason: 'fine' };
/** Each act that needs the claim, with what it leaves. */
const ACTS = {
  claim: {
    act: (id: number) => ana.visitor.ask('POST', `/api/applications/${id}/claim`, {}),
    left: { state: 'waiting', claimed_by: ana.id },
  },
  proposal: {
    act: (id: number) => desk.propose(ana.visitor, id),
    left: { state: 'proposed', claimed_by: null },
  },
  'decision on many': {
    act: (id: number) =>
      ana.visitor.ask('POST', '/api/proposals/bulk', {
        ...{ ...DECISION, seen: ALL_AGAINST },
        applications: [{ id, last_event: '0' }],
      }),
    left: { state: 'proposed', claimed_by: null },
  },
  pend: {
    act: (id: number) =>
      ana.visitor.ask(
        'POST',
        `/api/applications/${id}/pend`,
        { missing: ['explanation'], message: null, hours: 1 },
        { 'If-Match': '"0"' },
      ),
    left: { state: 'pended', claimed_by: null },
  },
} as const;

for (const [name, { act, left }] of Object.entries(ACTS)) {
  it(`a ${name} makes its item, and the loop changes nothing of it`, async () => {
    const [id, other] = await unexpanded(2);
    const { status, body } = await act(id!);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(await item(id!), left);
    assert.deepEqual(await item(other!), { state: 'waiting', claimed_by: null });
    assert.equal((await expandReviews(runtime, '0', 100, 24)).batches, 0);
    assert.deepEqual(await item(id!), left);
    await assertInvariants(store);
  });

  it(`a ${name} waits for a loop that makes its item at this moment`, async () => {
    const [id] = await unexpanded();
    const loop = await runtime.connect();
    await loop.query('BEGIN');
    await loop.query('SELECT expand_reviews(0, 100, 24)');
    const answer = act(id!);
    await eventually('the act that waits', async () => (await waitingSessions(database)).length > 0);
    await loop.query('COMMIT');
    loop.release();
    assert.equal((await answer).status, 200);
    assert.deepEqual(await item(id!), left);
  });
}

it('a proposal and a claim of another one at the same moment: one of them has it', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [id] = await unexpanded();
    const answers = await Promise.all([
      desk.propose(ana.visitor, id!),
      bob.visitor.ask('POST', `/api/applications/${id}/claim`, {}),
    ]);
    const [proposed, claimed] = answers.map(({ status }) => status);
    assert.ok([200, 409].includes(proposed!), `${proposed}`);
    // A claim of what is proposed takes nothing from its maker.
    if (proposed === 409) assert.equal(claimed, 200);
    assert.equal((await item(id!)).state, proposed === 200 ? 'proposed' : 'waiting');
  }
});
