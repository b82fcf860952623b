/** A run: clients work while faults are dealt, everything comes to its end, and the history is checked. */
import { Random } from '../../test/support/random.ts';
import { checkHistory, type Violation } from '../history/check.ts';
import { ApplicantMaker } from './clients/applicants.ts';
import { Desk } from './clients/desk.ts';
import { Operator } from './clients/operator.ts';
import { OptOuts } from './clients/opt-outs.ts';
import { PartnerClient } from './clients/partner.ts';
import { Reader } from './clients/reader.ts';
import type { PartnerKey, World } from './clients/world.ts';
import { deal } from './dealer.ts';
import type { Counted, Fault, Scene } from './faults/fault.ts';
import { Gate } from './gate.ts';
import { Promises } from './promises.ts';
import { Recorder } from './recorder.ts';
import { finishMessages, finishPushes, historyOf, keepDelivering } from './settle.ts';
import type { Stage } from './stage.ts';
import { Watch } from './watch.ts';

interface PartnerPlan {
  readonly name: string;
  readonly cap: number | null;
  /** Absent: its clients call the services of the stage, and its applicants may be known to others. */
  readonly own?: { readonly urls: readonly string[]; readonly series: number };
}

export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  /** Two packs, which are dealt side by side. */
  readonly programFaults: readonly Fault[];
  readonly otherFaults: readonly Fault[];
  /** The longest rest between two faults, and between two batches of a client. */
  readonly restMs: number;
  readonly pauseMs: number;
  readonly partners: readonly PartnerPlan[];
  readonly clientsPerPartner: number;
  readonly hasFlood: boolean;
  /** Something to do before the clients begin. */
  readonly firstly?: (partners: readonly PartnerKey[]) => Promise<void>;
  /** Something to do at the end of the faults, while the clients still work. */
  readonly lastly?: (scene: Scene, clients: { operator: Operator; desk: Desk }) => Promise<unknown>;
  readonly say: (text: string) => void;
}

export interface Ran {
  readonly recorder: Recorder;
  readonly watch: Watch;
  readonly promises: Promises;
  readonly counts: ReadonlyMap<Counted, number>;
  readonly violations: readonly Violation[];
}

const FLOOD_CAP = 50_000;

export async function run(stage: Stage, plan: Plan): Promise<Ran> {
  const { say } = plan;
  const random = new Random(plan.seed);
  const promises = new Promises();
  const recorder = new Recorder();
  const gate = new Gate();
  const add = async (name: string, cap: number | null, isNoted: boolean): Promise<PartnerKey> => {
    const partner = await stage.addPartner(name, cap, isNoted);
    recorder.partners.push({ id: partner.id, cap, hasEndpoint: isNoted, isNoted });
    return partner;
  };
  const flood = plan.hasFlood ? await add('Flood', FLOOD_CAP, false) : null;
  const partners: (PartnerKey & PartnerPlan)[] = [];
  for (const one of plan.partners) partners.push({ ...one, ...(await add(one.name, one.cap, true)) });
  await plan.firstly?.(partners);
  stage.endpoint.failBy(random.fork());

  const world: World = { urls: stage.urls, recorder, promises, gate, pauseMs: plan.pauseMs };
  const shared = new ApplicantMaker();
  const makers: ApplicantMaker[] = [];
  const clients = partners.flatMap((partner) => {
    const { own, id } = partner;
    const maker = own === undefined ? shared : new ApplicantMaker(own.series);
    if (!makers.includes(maker)) makers.push(maker);
    const around = own === undefined ? world : { ...world, urls: own.urls };
    const clientOf = (_: unknown, round: number) =>
      new PartnerClient(around, partner, `${id}-${round}`, maker, random.fork());
    return Array.from({ length: plan.clientsPerPartner }, clientOf);
  });
  const readers = partners.map((partner) => new Reader(world, partner));
  const operator = new Operator(world, stage, random.fork());
  const optOuts = new OptOuts(world, stage, makers, random.fork());
  recorder.operators.push(...stage.deskOperators);
  const desk = new Desk(world, stage, stage.deskOperators, random.fork());
  const watch = new Watch(stage, recorder, promises);
  const channelDay = keepDelivering(stage);
  const scene = sceneOf({ stage, promises, recorder, gate, flood: flood ?? partners[0]! });
  const untilMs = recorder.nowMs() + plan.minutes * 60_000;
  const answered = () => clients.reduce((sum, client) => sum + client.answered, 0);
  const same = { untilMs, restMs: plan.restMs, answered, say };
  const programs = plan.programFaults.map((fault) => ({
    ...fault,
    run: (...args: Parameters<Fault['run']>) => scene.quietly(() => fault.run(...args)),
  }));
  const [one, other] = [random.fork(), random.fork()];
  await Promise.all([
    deal(scene, { ...same, faults: programs, random: one }),
    deal(scene, { ...same, faults: plan.otherFaults, random: other }),
  ]);
  await plan.lastly?.(scene, { operator, desk });

  say('the faults are over; everything comes to its end');
  await Promise.all([...clients, operator, optOuts, desk].map((client) => client.stop()));
  await Promise.all(clients.map((client) => client.replay()));
  await channelDay.stop();
  await watch.stop();
  await finishMessages(stage, flood, promises);
  await finishPushes(stage, promises);
  await Promise.all(readers.map((reader) => reader.stop()));
  await Promise.all(readers.map((reader) => reader.readToEnd()));
  say('the history is checked');
  const violations = checkHistory(await historyOf(recorder, stage));
  return { recorder, watch, promises, counts: scene.counts, violations };
}

/** `quietly`: one piece of work after the other. */
function sceneOf(parts: Omit<Scene, 'counts' | 'quietly'>): Scene {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...parts,
    counts: new Map(),
    quietly(work) {
      const result = last.then(work);
      last = result.catch(() => {});
      return result;
    },
  };
}

/** What holds beside the history: the store's own invariants, and that a stop is clean. */
export async function checkRest(stage: Stage, promises: Promises): Promise<void> {
  for (const { rule, broken } of await stage.store.check()) {
    promises.hold('invariants', broken === 0, () => `${broken} times: ${rule}`);
  }
  for (const { name, program } of [...stage.services, stage.workers[0]!]) {
    const { code, ms } = await program.stop();
    promises.hold('stops', code === 0, () => `${name}: code ${code} after ${Math.round(ms)} ms`);
  }
}
