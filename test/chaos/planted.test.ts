/**
 * The chaos run finds what is wrong: with a bug of each rule planted for a partner of its own, the checker finds this
 * rule broken for this partner. That it finds nothing where there is no bug is shown by every run of `npm run chaos`.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { RULES } from '../history/check.ts';
import { eventually } from '../support/eventually.ts';
import { Middleman } from '../support/middleman.ts';
import { forger, PLANTED, plant } from './planted.ts';
import { run } from './run.ts';
import { startStage } from './stage.ts';

/** The clients work on until each partner has enough of everything. */
const MINUTES = 0.1;
const BATCHES = 8;
const EVENTS = 4;
const SEED = 1;
const stage = await startStage({ hasStandby: false });
after(() => stage.stop(false));

const forging = await Promise.all(
  stage.services.map(async ({ port }) => {
    const way = new Middleman({ host: '127.0.0.1', port }, 'POST /PRO');
    way.forge = forger();
    await way.start();
    after(() => way.stop());
    return `http://127.0.0.1:${way.port}`;
  }),
);
const ids = new Map<string, number>();
const { violations } = await run(stage, {
  ...{ seed: SEED, minutes: MINUTES, programFaults: [], otherFaults: [], restMs: 0, pauseMs: 100 },
  ...{ clientsPerPartner: 1, hasFlood: false, say() {} },
  partners: PLANTED.map(({ rule, cap, trigger }, index) => ({
    ...{ name: rule, cap },
    own: { urls: trigger === undefined ? forging : stage.urls, series: index + 1 },
  })),
  lastly: ({ recorder: { batches, feeds } }) =>
    eventually('enough batches and events of each partner', () =>
      [...ids.values()].every((id) => {
        const own = batches.filter(({ partnerId, calls }) => partnerId === id && calls.length > 0);
        return own.length >= BATCHES && feeds.get(id)!.length >= EVENTS;
      }),
    ),
  async firstly(partners) {
    for (const [index, { name, id }] of partners.entries()) {
      ids.set(name, id);
      await plant(stage.store.database, PLANTED[index]!, id);
    }
  },
});

for (const { rule, bug } of PLANTED) {
  test(`a planted bug is found: ${bug}`, () => {
    const own = violations.filter(({ partnerId }) => partnerId === ids.get(rule));
    assert.ok(
      own.some((violation) => violation.rule === rule),
      JSON.stringify(own.slice(0, 5)),
    );
  });
}

test('each rule has a planted bug', () => {
  assert.deepEqual(new Set(PLANTED.map(({ rule }) => rule)), new Set(Object.keys(RULES)));
});
