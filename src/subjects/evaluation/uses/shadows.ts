/**
 * Shadows: a backtest that goes on (D51; docs/policy.md, "Shadow"). Operators start and stop them, the upkeep counts
 * and ends them, and each of these acts is recorded. Writes by `sql/shadows.ts`.
 */
import { errorCode } from '../../../ground/base/describe-error.ts';
import { inTransaction, type Session } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { lastBatchNumber } from '../../applications/sql/settled-batches.ts';
import { digestOf } from '../../policies/sql/digest.ts';
import { readLive, storedPolicyOf } from '../../policies/sql/policies.ts';
import { findVersion } from '../../policies/uses/versions.ts';
import { type Matrix, matrixOf } from '../rules/backtest-report.ts';
import { ShadowCount } from '../rules/shadow.ts';
import {
  addCounts,
  addShadow,
  countRunning,
  type EndedWhy,
  endShadow,
  findRunning,
  listShadows,
  type OpenShadow,
  openShadows,
  type ShadowRow,
} from '../sql/shadows.ts';
import { type Follower, followDecisions } from './follow-decisions.ts';
import { TrialRefusal } from './refusal.ts';

/** Shadows that run at once: each costs the upkeep a little. Two starts at the same moment may make one more. */
export const MOST_RUNNING = 5;

/** PostgreSQL's code: there is such a row. */
const IS_THERE = '23505';

export interface Started {
  readonly version: string;
  /** The live version, whose decisions are those before. */
  readonly live: string;
  readonly endsAt: Date;
}

/**
 * Starts the shadow of a version or a draft, as it is now, for so many days. It counts what is registered from now on.
 * Throws `OperatorError` where the version is live or not there, or has a shadow that runs, or where too many run.
 */
export async function startShadow(context: OperatorContext, version: string, days: number): Promise<Started> {
  const { content, constants } = await findVersion(context, version);
  const live = await readLive(context.database);
  if (live === null) throw new OperatorError('no policy is live yet: the first start activates one');
  if (live.content.version === version)
    throw new TrialRefusal('live', `policy ${version} is live: its shadow would be itself`);
  const shadow = { version, content, constants, sha256: digestOf(content), live, days, actor: context.actor };
  const start = async ({ database }: OperatorContext) => {
    if ((await countRunning(database)) >= MOST_RUNNING)
      throw new TrialRefusal(
        'too_many_shadows',
        `${MOST_RUNNING} shadows run already: stop one with policy shadow stop`,
      );
    return addShadow(database, { ...shadow, from: (await lastBatchNumber(database)) + 1 });
  };
  const endsAt = await acting(context, start, () => ({
    act: 'policy shadow start',
    target: `policy ${version}`,
  })).catch((error: unknown) => {
    if (errorCode(error) !== IS_THERE) throw error;
    throw new TrialRefusal('shadow_runs', `a shadow of policy ${version} runs already`);
  });
  return { version, live: live.content.version, endsAt };
}

/**
 * Stops the shadow of a version, and counts what was registered before. Where that takes long, the upkeep goes on with
 * it. Throws `OperatorError` where none runs.
 */
export async function stopShadow(context: OperatorContext, version: string): Promise<ShadowReport> {
  const id = await acting(
    context,
    async ({ database }) => {
      const running = await findRunning(database, version);
      const before = (await lastBatchNumber(database)) + 1;
      if (running === null || !(await endShadow(database, running, 'stopped', before)))
        throw new TrialRefusal('no_shadow', `no shadow of policy ${version} runs`);
      return running;
    },
    () => ({ act: 'policy shadow stop', target: `policy ${version}` }),
  );
  await followDecisions(context, await shadowFollowers(context, () => {}));
  return (await readShadows(context.database)).find((one) => one.id === id)!;
}

/** A shadow as the command line and the console show it. */
export interface ShadowReport extends Omit<ShadowRow, 'counts'> {
  readonly applications: number;
  readonly matrix: Matrix;
}

const NOTHING: readonly number[] = Array(9).fill(0);

/** The shadows with what they have counted: those that run first, then the newest first. */
export async function readShadows(session: Session): Promise<ShadowReport[]> {
  return (await listShadows(session)).map(({ counts, ...row }) => ({
    ...row,
    applications: (counts ?? NOTHING).reduce((sum, count) => sum + count, 0),
    matrix: matrixOf(counts ?? NOTHING),
  }));
}

/** Why a shadow ended, for people and for the record of acts. */
export const ENDED_WHY: Readonly<Record<EndedWhy, string>> = {
  stopped: 'an operator stopped it',
  end_date: 'its end date was reached',
  activation: 'another policy was activated',
  card_failed: 'its policy threw an error',
};

/** Who ends a shadow that nobody stops: the service, as the record of acts names it. */
const SERVICE = 'ventanilla';

/** What the upkeep gets to count shadows. */
export type ShadowContext = Pick<OperatorContext, 'database' | 'vault' | 'clock'>;

/**
 * Ends the shadows whose time is over. The others, and those that have something left to count, follow the decisions.
 * `failed` hears of a card that threw.
 */
export async function shadowFollowers(
  context: ShadowContext,
  failed: (shadow: string, error: unknown) => void,
): Promise<Follower[]> {
  let open = await openShadows(context.database);
  const due = open.filter((shadow) => shadow.due !== null);
  if (due.length > 0) {
    const before = (await lastBatchNumber(context.database)) + 1;
    for (const shadow of due) await end(context, shadow, shadow.due!, before);
    open = await openShadows(context.database);
  }
  return open.map((shadow) => followerOf(context, shadow, failed));
}

/** Ends a shadow by itself, and records it. */
async function end(
  context: ShadowContext,
  { id, version }: OpenShadow,
  why: EndedWhy,
  before: number,
): Promise<void> {
  await acting(
    { ...context, actor: SERVICE },
    ({ database }) => endShadow(database, id, why, before),
    (isDone) =>
      isDone ? { act: 'policy shadow end', target: `policy ${version}`, reason: ENDED_WHY[why] } : null,
  );
}

function followerOf(
  context: ShadowContext,
  shadow: OpenShadow,
  failed: (shadow: string, error: unknown) => void,
): Follower {
  let count: ShadowCount | null = null;
  return {
    from: shadow.next,
    until: shadow.until,
    count: ({ policyId, day, partnerId }, decided, positions) => {
      if (policyId !== shadow.policyId) return;
      // Made here, so that a version that makes no card ends its own shadow.
      count ??= new ShadowCount(storedPolicyOf(shadow).card);
      count.add(decided, positions, day, partnerId);
    },
    save: async (next) => {
      const counted = { days: count?.days ?? [], damaged: count?.damaged ?? 0 };
      await inTransaction(context.database, (session) => addCounts(session, shadow, next, counted));
    },
    failed: async (error) => {
      failed(`the shadow of policy ${shadow.version}`, error);
      await end(context, shadow, 'card_failed', shadow.next);
    },
  };
}
