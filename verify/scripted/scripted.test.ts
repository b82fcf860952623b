/**
 * A scripted applicant of each kind, with every fault, kills included: no rule is broken. Bugs that are planted into
 * the history of this run show that the checker sees each of them.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { USUAL_SHARES } from './channel-shares.ts';
import { checkScripted, RULES } from './check.ts';
import { PLANTED } from './planted.ts';
import { run } from './run.ts';
import { SCRIPTS, scriptsFor } from './scripts.ts';

const { stage, history, kills, inbox } = await run({
  ...{ seed: 7, applicants: SCRIPTS.length, waiting: 12, most: 40, services: 1 },
  withinMs: Number.POSITIVE_INFINITY,
  pace: { thinkMs: 100, patienceMs: 2_000 },
  shares: { ...USUAL_SHARES, latestMs: 500 },
  kills: { restMs: 3_000, postgres: 0.3, most: 3 },
  isHurried: true,
  say() {},
});
after(() => stage.stop(false));

test('all rules hold, and what a restored backup has to keep', async () => {
  assert.deepEqual(checkScripted(history), []);
  assert.deepEqual(
    (await stage.postgres.check()).filter(({ broken }) => broken > 0),
    [],
  );
});

test('programs were killed while the applicants wrote, and while operators answered', () => {
  assert.ok(kills.services + kills.postgres > inbox.killed);
  assert.ok(inbox.killed > 0);
  assert.ok(inbox.waited >= 12);
});

for (const { rule, bug, plant } of PLANTED) {
  test(`a planted bug is found: ${bug}`, () => {
    const found = checkScripted(plant(history)).map((violation) => violation.rule);
    assert.ok(found.includes(rule), found.join());
  });
}

test('each rule has a planted bug', () => {
  assert.deepEqual(new Set(PLANTED.map(({ rule }) => rule)), new Set(Object.keys(RULES)));
});

test('each script has applicants, also in a short run', () => {
  assert.equal(new Set(scriptsFor(SCRIPTS.length)).size, SCRIPTS.length);
});
