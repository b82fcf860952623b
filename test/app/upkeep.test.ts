/** The turns of the upkeep: when they come, which jobs they run, and how they end. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EVERY_MS, startUpkeep } from '../../src/app/background.ts';
import type { ServiceContext, UpkeepJob } from '../../src/program/subject/subject.ts';
import { type JobEnd, NOBODY } from '../../src/program/subject/watcher.ts';
import { TestClock } from '../support/test-clock.ts';

function upkeep(jobs: (clock: TestClock) => readonly UpkeepJob[]) {
  const clock = new TestClock();
  const kept: JobEnd[] = [];
  const failures: string[] = [];
  const watcher = { ...NOBODY, kept: async (ends: readonly JobEnd[]) => void kept.push(...ends) };
  const failed = (work: string) => void failures.push(work);
  const context = { clock, watcher, failed } as Partial<ServiceContext> as ServiceContext;
  return { clock, kept, failures, stop: startUpkeep(jobs(clock), context) };
}

it('a turn comes every 15 s; a seldom job runs in the first one and in every twentieth', async () => {
  const ran = { often: 0, seldom: 0 };
  const counting = (name: keyof typeof ran) => async () => {
    ran[name] += 1;
  };
  const { clock, stop } = upkeep(() => [
    { name: 'often', run: counting('often') },
    { name: 'seldom', seldom: true, run: counting('seldom') },
  ]);
  await clock.advance(EVERY_MS - 1);
  assert.deepEqual(ran, { often: 0, seldom: 0 });
  await clock.advance(1);
  assert.deepEqual(ran, { often: 1, seldom: 1 });
  await clock.advance(19 * EVERY_MS);
  assert.deepEqual(ran, { often: 20, seldom: 1 });
  await clock.advance(EVERY_MS);
  assert.deepEqual(ran, { often: 21, seldom: 2 });
  await stop();
  await clock.advance(EVERY_MS);
  assert.equal(ran.often, 21);
});

it('a turn that takes long is joined by no other one, and its jobs are noted with their time', async () => {
  const { clock, kept, stop } = upkeep((time) => [{ name: 'slow', run: () => time.sleep(20_000) }]);
  await clock.advance(EVERY_MS + 19_999);
  assert.deepEqual(kept, []);
  await clock.advance(1);
  assert.deepEqual(kept, [{ name: 'slow', tookMs: 20_000, succeeded: true, why: null }]);
  await stop();
});

it('a job that fails is told, and the others run', async () => {
  const { clock, kept, failures, stop } = upkeep(() => [
    { name: 'fails', run: () => Promise.reject(new Error('on purpose')) },
    { name: 'works', run: async () => {} },
  ]);
  await clock.advance(EVERY_MS);
  assert.deepEqual(failures, ['upkeep: fails']);
  assert.deepEqual(
    kept.map(({ name, succeeded }) => [name, succeeded]),
    [
      ['fails', false],
      ['works', true],
    ],
  );
  await stop();
});

it('a stop begins no more jobs, and leaves the one under way after four seconds', async () => {
  const { clock, failures, stop } = upkeep((time) => [
    { name: 'hangs', run: () => time.sleep(60_000) },
    { name: 'next', run: async () => assert.fail('begins') },
  ]);
  await clock.advance(EVERY_MS);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await clock.advance(3_999);
  assert.equal(isStopped, false);
  await clock.advance(1);
  await stopped;
  await clock.advance(60_000);
  assert.deepEqual(failures, []);
});
