/** Faults of the network: between clients and services, and between services and the store; and of the channel. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault as Break, Middleman } from '../../../test/support/middleman.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Stage } from '../stage.ts';
import type { Fault } from './fault.ts';

/** Resets before and after the commit, statements that run while nobody waits, connections that are half open. */
const BREAKS: readonly Break[] = ['before', 'at_once', 'after', 'swallow'];
const BREAKS_FOR_MS = 2_000;

const toStore = ({ store }: Stage) => [store.middleman];
const toServices = ({ ways }: Stage) => ways;

export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: 'every connection to the database breaks',
    cards: 1,
    run: async ({ stage }) => stage.store.middleman.dropAll(),
  },
  faultOf('the network to the database is silent', toStore, beSilent),
  faultOf('the network to the services is silent', toServices, beSilent),
  faultOf('registering statements are lost, cut off or not answered', toStore, breakMarked),
  faultOf('batches are lost, cut off or not answered', toServices, async (way, random) => {
    await breakMarked(way, random);
    // A client whose answer the network has swallowed would wait for its own limit, and blame the service.
    way.dropAll();
  }),
  faultOf('the network to the database is slow', toStore, beSlow),
  faultOf('the network to the services is slow', toServices, beSlow),
  {
    name: 'the channel hangs up',
    cards: 1,
    run: async ({ stage: { api } }, random) => {
      api.closeUnread = random.between(5, 40);
      await sleep(1_000);
      api.closeUnread = 0;
    },
  },
];

function faultOf(
  name: string,
  waysOf: (stage: Stage) => readonly Middleman[],
  spoil: (way: Middleman, random: Random) => Promise<void>,
): Fault {
  return {
    name,
    cards: 1,
    run: async ({ stage }, random) => {
      await Promise.all(waysOf(stage).map((way) => spoil(way, random)));
    },
  };
}

/** Half-open: nothing passes, and nothing is closed. */
async function beSilent(way: Middleman, random: Random): Promise<void> {
  way.blackHole = true;
  await sleep(random.between(500, 5_000));
  way.heal();
}

async function breakMarked(way: Middleman, random: Random): Promise<void> {
  way.faults.push(...random.shuffled([...BREAKS, ...BREAKS]));
  await sleep(BREAKS_FOR_MS);
  way.faults.length = 0;
}

async function beSlow(way: Middleman, random: Random): Promise<void> {
  way.latencyMs = random.between(5, 400);
  await sleep(random.between(1_000, 4_000));
  way.latencyMs = 0;
}
