/**
 * The chaos run finds what is wrong: with each bug planted for a partner of its own, the checker finds the bug's rule
 * broken for this partner, and no rule for a partner without a bug.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseCallback } from '../../src/domain/message/outgoing-message.ts';
import type { Decision } from '../../src/domain/scorecard/scorecard.ts';
import { readProposal } from '../../src/subjects/desk/sql/proposals.ts';
import { eventually } from '../../test/support/eventually.ts';
import { Middleman } from '../../test/support/middleman.ts';
import { RULES, type Rule } from '../history/check.ts';
import type { ReadEvent } from '../history/history.ts';
import { answered, applicationOf, begunAt } from '../history/lookup.ts';
import { UNDO_SECONDS } from '../history/rules/undone.ts';
import type { Desk } from './clients/desk.ts';
import type { Operator } from './clients/operator.ts';
import type { Scene } from './faults/fault.ts';
import { DUE_AT_ONCE, PLANTED, type Planted, plant } from './planted.ts';
import type { Recorder } from './recorder.ts';
import { run } from './run.ts';
import { startStage } from './stage.ts';

const MINUTES = 0.1;
/** The clients work on until each partner has enough of everything. */
const BATCHES = 8;
const EVENTS = 4;
const REJECTIONS = 3;
const SEED = 1;
const CLEAN = 'Clean';
const stage = await startStage({ hasStandby: false, hasSmallDisk: true });
after(() => stage.stop(false));
/** Who decides alone, and who needs a second operator. */
const ana = stage.deskOperators.find(({ hasAuthority }) => hasAuthority)!.id;
const bea = stage.deskOperators.find(({ hasAuthority }) => !hasAuthority)!.id;

/**
 * Enough of them, and one with an even number that tells a move, after events of two applications: one bug gives the
 * events with even numbers to another application, and only of moves does a rule say which application has them.
 */
function hasEnoughEvents(feed: readonly ReadEvent[]): boolean {
  const isMisplaced = ({ type }: ReadEvent, index: number) =>
    index % 2 === 1 &&
    type === 'application.status_changed' &&
    new Set(feed.slice(0, index).map(({ applicationId }) => applicationId)).size > 1;
  return feed.length >= EVENTS && feed.some(isMisplaced);
}

interface Registered {
  readonly id: number;
  readonly phone: string;
  readonly decision: Decision;
  readonly atMs: number;
}

/** The partner's applicants who may get messages, in the order of their batches. */
function registeredOf({ batches }: Recorder, partnerId: number): Registered[] {
  return batches
    .filter((batch) => batch.partnerId === partnerId)
    .flatMap((batch) =>
      (answered(batch)[0]?.answer.outcomes ?? []).flatMap((outcome, position) => {
        const { phone, optin } = batch.applications[position]!;
        if (outcome.kind !== 'registered' || !optin) return [];
        return [{ phone, id: outcome.id, decision: outcome.decision, atMs: begunAt(batch) }];
      }),
    );
}

/** What must have happened to the partner's applicants before a bug of the rule can show. */
const NEEDS: Partial<Record<Rule, (registered: readonly Registered[], recorder: Recorder) => boolean>> = {
  optOuts: (registered, { optOuts }) =>
    optOuts.some(({ phone, seen }) => registered.some((one) => one.phone === phone && one.atMs > seen.atMs)),
  recipients(registered) {
    const rejected = registered.filter(({ decision }) => decision === 'rejected').map(({ phone }) => phone);
    return new Set(rejected).size < rejected.length;
  },
};

/** Does this with one application in review of the partner after the other, until it returns true. */
async function withInReview(
  { recorder }: Scene,
  partnerId: number,
  what: string,
  work: (id: number) => Promise<boolean>,
): Promise<void> {
  const tried = new Set<number>();
  await eventually(what, async () => {
    const ids = registeredOf(recorder, partnerId)
      .filter((one) => one.decision === 'in_review')
      .map(({ id }) => id);
    const id = ids.findLast((one) => !tried.has(one));
    if (id === undefined) return false;
    tried.add(id);
    return work(id);
  });
}

/** The state in which a proposal ends; null: somebody else had moved the application. */
async function endOf({ stage: { store } }: Scene, id: number): Promise<string | null> {
  const { state, returnedFor } = await eventually('the end of a proposal', async () => {
    // On a busy machine a session may take longer than the service allows.
    const proposal = await readProposal(store.database, id).catch(() => undefined);
    if (proposal === undefined) return undefined;
    return proposal?.state === 'proposed' ? undefined : proposal!;
  });
  return returnedFor === 'changed' ? null : state;
}

type DeskNeed = (scene: Scene, desk: Desk, partnerId: number, bug: string | undefined) => Promise<void>;

/** What operators of the desk have to do with the partner's applications, so that a bug of the rule shows. */
const DESK_NEEDS: Partial<Record<Rule, DeskNeed>> = {
  proposals: (scene, desk, partnerId) =>
    withInReview(scene, partnerId, 'a proposal with its end', async (id) => {
      const made = await desk.propose(ana, id, 'approve');
      return made !== null && (await endOf(scene, made.id)) !== null;
    }),
  undone: (scene, desk, partnerId, bug) =>
    withInReview(scene, partnerId, 'an undo in time', async (id) => {
      const isDue = bug === DUE_AT_ONCE;
      const made = await desk.propose(ana, id, 'approve', undefined, isDue ? 0 : undefined);
      if (made === null) return false;
      if (isDue) await endOf(scene, made.id);
      const end = await desk.acts.undo(made);
      const isInTime = scene.recorder.nowMs() < made.fromMs + UNDO_SECONDS * 1_000;
      return isInTime && end === (isDue ? 'late' : 'done');
    }),
  secondOperators: (scene, desk, partnerId) =>
    withInReview(scene, partnerId, 'a confirmed proposal with its end', async (id) => {
      const made = await desk.propose(bea, id, 'approve');
      const isConfirmed = made !== null && (await desk.acts.confirm(ana, made)) === 'done';
      return isConfirmed && (await endOf(scene, made.id)) !== null;
    }),
  claims: (scene, desk, partnerId, bug) =>
    withInReview(scene, partnerId, 'claims of two operators', async (id) => {
      const isClaimed = (await desk.acts.claim(ana, id)) === 'done';
      const isOthers = (await desk.acts.claim(bea, id)) === 'done';
      return isClaimed && isOthers === (bug !== undefined);
    }),
};

/** Rejects applications until some of them had a message that was not sent. */
async function rejectUnsent({ recorder, stage: { api } }: Scene, operator: Operator, partnerId: number) {
  const isSent = (id: number) =>
    [...api.accepted.keys()].some((callback) => applicationOf(parseCallback(callback)!.messageId) === id);
  let rejected = 0;
  await eventually('rejections before a message is sent', async () => {
    const newest = registeredOf(recorder, partnerId).findLast(({ decision }) => decision !== 'rejected');
    const isOpen = newest !== undefined && !isSent(newest.id);
    if (isOpen && (await operator.review(newest.id, 'reject')) === 'done' && !isSent(newest.id))
      rejected += 1;
    return rejected >= REJECTIONS;
  });
}

/** The services by a network with the bug. */
function wayOf({ forger }: Planted): Promise<readonly string[]> {
  const ways = stage.services.map(async ({ port }) => {
    const way = new Middleman({ host: '127.0.0.1', port }, 'POST /PRO');
    way.forge = forger!();
    await way.start();
    after(() => way.stop());
    return `http://127.0.0.1:${way.port}`;
  });
  return Promise.all(ways);
}

const plans = await Promise.all(
  PLANTED.map(async (planted, index) => ({
    ...{ name: planted.bug, cap: planted.cap },
    own: { urls: planted.forger === undefined ? stage.urls : await wayOf(planted), series: index + 1 },
  })),
);
const clean = { name: CLEAN, cap: null, own: { urls: stage.urls, series: PLANTED.length + 1 } };
const ids = new Map<string, number>();
/** The rules that a bug of the partner breaks; without a bug, all rules could be broken. */
const rulesOf = (index: number) => (PLANTED[index] ? [PLANTED[index].rule] : (Object.keys(RULES) as Rule[]));
const needsOf = (index: number) => rulesOf(index).flatMap((rule) => NEEDS[rule] ?? []);
const { violations } = await run(stage, {
  ...{ seed: SEED, minutes: MINUTES, programFaults: [], otherFaults: [], restMs: 0, pauseMs: 100 },
  ...{ clientsPerPartner: 1, hasFlood: false, say() {} },
  partners: [...plans, clean],
  async lastly(scene, { operator, desk }) {
    const { recorder } = scene;
    await eventually('enough batches, replays, events and sends of each partner', () =>
      recorder.partners.every(({ id, cap }, index) => {
        const own = recorder.batches.filter(({ partnerId, calls }) => partnerId === id && calls.length > 0);
        const hasReplay = own.some(({ calls }) => calls.filter(({ answer }) => answer !== null).length > 1);
        if (own.length < BATCHES || !hasReplay) return false;
        if (cap !== null) return true;
        const registered = registeredOf(recorder, id);
        return (
          hasEnoughEvents(recorder.feeds.get(id)!) &&
          needsOf(index).every((need) => need(registered, recorder))
        );
      }),
    );
    for (const [index, { id }] of recorder.partners.entries()) {
      if (rulesOf(index).includes('outdated')) await rejectUnsent(scene, operator, id);
    }
    await Promise.all(
      recorder.partners.flatMap(({ id }, index) =>
        rulesOf(index).map((rule) => DESK_NEEDS[rule]?.(scene, desk, id, PLANTED[index]?.bug)),
      ),
    );
  },
  async firstly(partners) {
    for (const [index, { name, id }] of partners.entries()) {
      ids.set(name, id);
      const planted = PLANTED[index];
      if (planted !== undefined) await plant(stage.store.database, `planted_${index}`, planted, id);
    }
  },
});
const found = (name: string) => violations.filter(({ partnerId }) => partnerId === ids.get(name));

for (const { rule, bug } of PLANTED) {
  test(`a planted bug is found: ${bug}`, () => {
    const own = found(bug);
    assert.ok(
      own.some((violation) => violation.rule === rule),
      JSON.stringify(own.slice(0, 5)),
    );
  });
}

test('nothing is found at a partner without a planted bug', () => {
  assert.ok(ids.has(CLEAN));
  assert.deepEqual(found(CLEAN), []);
});

test('each rule has a planted bug', () => {
  assert.deepEqual(new Set(PLANTED.map(({ rule }) => rule)), new Set(Object.keys(RULES)));
});
