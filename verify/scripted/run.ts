/** A run: applicants follow their scripts while everything fails, all comes to its end, and the history is checked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { channelIndexOf } from '../../src/seal/blind-indexes.ts';
import { Random } from '../../test/support/random.ts';
import { Channel } from './channel.ts';
import type { Shares } from './channel-shares.ts';
import { makeCrowd, runCrowd } from './crowd.ts';
import { drain, endLeases, isBusy, isHeld, letExpire, readWaiting } from './drain.ts';
import { dumpStore } from './dump.ts';
import { readFeed } from './feed.ts';
import { answerInbox, signInOperators } from './inbox.ts';
import { type KillPlan, Kills } from './kills.ts';
import { operate } from './operator.ts';
import type { Pace, Person } from './person.ts';
import { EXPIRES, scriptsFor } from './scripts.ts';
import type { History, PersonSeen } from './seen.ts';
import { type Stage, startStage } from './stage.ts';

export interface Plan {
  readonly seed: number;
  readonly applicants: number;
  /** How many more ask for a person, and wait. */
  readonly waiting: number;
  /** At once in their conversations. */
  readonly most: number;
  /** Nobody is registered after so long. */
  readonly withinMs: number;
  readonly services: number;
  readonly pace: Pace;
  readonly shares: Shares;
  readonly kills: Pick<KillPlan, 'restMs' | 'postgres' | 'most'>;
  /** With one service: what it had in hand goes on at once after a kill, and not after its lease. */
  readonly isHurried: boolean;
  readonly say: (text: string) => void;
}

export interface Ran {
  readonly stage: Stage;
  readonly history: History;
  readonly kills: { readonly services: number; readonly postgres: number };
  /** How many waited for an operator, and what was killed while they were answered. */
  readonly inbox: { readonly waited: number; readonly killed: number };
  /** From the first registration to the end of the last script. */
  readonly ms: number;
}

/** An answer takes seconds, and a script minutes: while operators answer, the rest between two kills is shorter. */
const OFTENER = 20;

/** The caller stops the stage. */
export async function run(plan: Plan): Promise<Ran> {
  const { say, pace, shares, isHurried } = plan;
  const start = performance.now();
  const nowMs = () => performance.now() - start;
  const random = new Random(plan.seed);
  const persons = new Map<string, Person>();
  const stage = await startStage(plan.services, persons, random.fork(), shares.faults);
  const { api, urls, postgres } = stage;
  say(`the stage stands in ${stage.folder}`);
  const channel = new Channel({
    ...{ api, urls, random: random.fork(), shares, nowMs, persons },
    isBusy: (id) => isBusy(postgres.database, id),
    isHeld: (id) => isHeld(postgres.database, id),
    operate: (id, act) => operate(stage, id, act),
  });
  const scripts = scriptsFor(plan.applicants, plan.waiting);
  const everybody = makeCrowd(scripts, channel, random.fork(), pace);
  for (const person of everybody) persons.set(person.applicant.phone, person);
  const killing = (restMs: number | null) =>
    new Kills(stage, {
      ...{ ...plan.kills, restMs },
      random: random.fork(),
      ...(isHurried && { whileAway: () => endLeases(() => postgres.database) }),
    });
  const kills = killing(plan.kills.restMs);
  const begunMs = nowMs();
  const crowd = await runCrowd(stage, everybody, {
    ...{ most: plan.most, withinMs: plan.withinMs, random: random.fork() },
    onBatch: (over) =>
      say(`${over} scripts are over; ${kills.services} services and ${kills.postgres} PostgreSQL killed`),
  });
  const ms = nowMs() - begunMs;
  await kills.stop();
  say('the scripts are over; operators answer who waits');
  await settle(stage, channel);
  const waited = await readWaiting(postgres.database);
  const operators = await signInOperators(stage);
  const inbox = killing(plan.kills.restMs && plan.kills.restMs / OFTENER);
  await answerInbox(stage, operators, random.fork(), pace.thinkMs);
  await inbox.stop();
  say(`${waited.length} are answered; everything comes to its end`);
  await finish(stage, channel, crowd);
  say('the history is checked');
  const killed = { services: kills.services + inbox.services, postgres: kills.postgres + inbox.postgres };
  return {
    ...{ stage, kills: killed, ms },
    history: await historyOf(stage, crowd, waited),
    inbox: { waited: waited.length, killed: inbox.services + inbox.postgres },
  };
}

/** Nothing waits but for a person or a time. */
async function settle({ postgres, programs }: Stage, channel: Channel): Promise<void> {
  while (!channel.isIdle) await sleep(50);
  await Promise.all(programs.map((program) => program.kill()));
  await endLeases(() => postgres.database);
  for (const program of programs) await program.start();
  await drain(() => postgres.database);
}

/** Nothing is left to do afterwards, neither at the channel nor in the store. */
async function finish(stage: Stage, channel: Channel, crowd: readonly Person[]): Promise<void> {
  const { postgres } = stage;
  await settle(stage, channel);
  const old = crowd.filter(({ script }) => script.name === EXPIRES).map(({ applicationId }) => applicationId);
  await letExpire(postgres.database, old);
  await drain(() => postgres.database);
  while (!channel.isIdle) await sleep(50);
  await drain(() => postgres.database);
  channel.close();
}

async function historyOf(
  { postgres, vault, urls, keys }: Stage,
  crowd: readonly Person[],
  waited: readonly number[],
): Promise<History> {
  const persons: PersonSeen[] = crowd.map(({ applicationId, script, userId, told, taken, codes, shown }) => ({
    ...{ applicationId, script, isHidden: userId !== null, told, taken, codes, shown },
  }));
  return {
    ...{ persons, waited },
    store: await dumpStore(
      postgres.database,
      vault,
      crowd.map(({ applicationId }) => applicationId),
    ),
    feed: (
      await Promise.all(Object.values(keys).map((key, index) => readFeed(urls[0]!, key, index + 1)))
    ).flat(),
    indexOf: (id) => channelIndexOf(vault, id),
  };
}
