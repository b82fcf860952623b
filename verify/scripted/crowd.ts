/** The applicants of a run: registered by their partners a few at a time, each with a phone and a script. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GIG_APPLICANT, IN_REVIEW } from '../../test/support/applicant.ts';
import type { Random } from '../../test/support/random.ts';
import { post } from '../../test/support/service.ts';
import { type Applicant, type Line, type Pace, Person } from './person.ts';
import type { Script } from './scripts.ts';
import type { Stage } from './stage.ts';

const BATCH = 20;
const AGAIN_MS = 300;
/** The channel tells no phone of these. */
const HIDDEN_SHARE = 0.05;

/** Makes a person a script; nobody is registered yet. */
export function makeCrowd(scripts: readonly Script[], line: Line, random: Random, pace: Pace): Person[] {
  return random.shuffled([...scripts]).map((script, index) => {
    const number = `${index + 1}`.padStart(7, '0');
    const applicant = {
      ...GIG_APPLICANT,
      ...(script.isInReview === true && IN_REVIEW),
      id_number: `10${number}0`,
      phone: `+57300${number}`,
    };
    const userId = random.isLucky(HIDDEN_SHARE) ? `CO.${number}` : null;
    return new Person({ script, applicant, userId }, line, random.fork(), pace);
  });
}

export interface CrowdPlan {
  /** At once in their conversations. */
  readonly most: number;
  /** Nobody is registered after so long. */
  readonly withinMs: number;
  readonly random: Random;
  readonly onBatch: (over: number) => void;
}

/** Registers them while there is time. Resolves with those who are registered, when all their scripts are over. */
export async function runCrowd(
  stage: Pick<Stage, 'urls' | 'keys'>,
  crowd: readonly Person[],
  { most, withinMs, random, onBatch }: CrowdPlan,
): Promise<Person[]> {
  const deadline = performance.now() + withinMs;
  let [active, over] = [0, 0];
  const byFlow = Map.groupBy(crowd, ({ script }) => script.flow);
  const batches = random.shuffled([...byFlow].flatMap(([flow, persons]) => batchesOf(flow, persons)));
  const ends: Promise<void>[] = [];
  for (const { flow, persons } of batches) {
    while (active + persons.length > most && active > 0) await sleep(50);
    if (performance.now() > deadline) break;
    await register(stage, flow, persons, random);
    active += persons.length;
    for (const person of persons) {
      ends.push(
        person.over.then(() => {
          active -= 1;
          over += 1;
        }),
      );
    }
    onBatch(over);
  }
  await Promise.all(ends);
  return crowd.filter(({ applicationId }) => applicationId > 0);
}

function batchesOf(flow: Script['flow'], persons: readonly Person[]) {
  return Array.from({ length: Math.ceil(persons.length / BATCH) }, (_, index) => ({
    flow,
    persons: persons.slice(index * BATCH, (index + 1) * BATCH),
  }));
}

/** As partners do: the same batch again until it is answered. */
async function register(
  { urls, keys }: Pick<Stage, 'urls' | 'keys'>,
  flow: Script['flow'],
  persons: readonly Person[],
  random: Random,
): Promise<void> {
  const applications: readonly Applicant[] = persons.map(({ applicant }) => applicant);
  const headers = { 'Idempotency-Key': randomUUID() };
  for (;;) {
    const url = `${urls[random.between(0, urls.length - 1)]}/PRO`;
    const answer = await post(url, keys[flow], { applications }, headers).catch(() => null);
    if (answer?.status === 200) {
      const { results } = answer.body as { results: { id: number; decision: string }[] };
      const wanted = persons.map(({ script }) => (script.isInReview === true ? 'in_review' : 'approved'));
      if (results.map(({ decision }) => decision).join() !== wanted.join())
        throw new Error(`the decisions are not ${wanted.join()}: ${answer.text.slice(0, 300)}`);
      for (const [index, { id }] of results.entries()) {
        persons[index]!.applicationId = id;
        persons[index]!.waitForOffer();
      }
      return;
    }
    await sleep(AGAIN_MS);
  }
}
