/** What fails at a start for a reason that may pass is tried again for a minute, by the process's own clock (D37). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { CommitInDoubtError } from '../../src/ground/postgres/session.ts';
import { PassingSetupError, SetupError } from '../../src/ground/postgres/setup-error.ts';
import { TestClock } from '../support/test-clock.ts';

const coded = (code: string) => Object.assign(new Error('Ana'), { code });
const PASSING = [
  ...['57014', '57P01', '57P03', '53100', '53200', '53300', '08006'].map(coded),
  ...['40001', '40P01', '55P03', '25006'].map(coded),
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ENOENT', 'ETIMEDOUT'].map(coded),
  new Error('Query read timeout'),
  new Error('Connection terminated unexpectedly'),
  new Error('timeout exceeded when trying to connect'),
  new Error('Client has encountered a connection error and is not queryable'),
  new CommitInDoubtError(),
  new PassingSetupError('a standby'),
];
const FINAL = [
  ...['28P01', '28000', '3D000', '42501', '42P01', '22012', '23505', 'XX001', 'P0001'].map(coded),
  new SetupError('wrong secrets'),
  new TypeError('a mistake'),
];

function patient(signal = new AbortController().signal) {
  const clock = new TestClock();
  const notices: string[] = [];
  const patience = new Patience({ clock, what: 'it', signal, notice: (text) => notices.push(text) });
  return { clock, notices, patience };
}

/** Runs a step that always fails with this error. Tells how often it ran, and how it ended. */
function failing(patience: Patience, error: unknown) {
  const seen = { calls: 0, end: null as unknown };
  void patience
    .run(() => {
      seen.calls += 1;
      return Promise.reject(error);
    })
    .catch((end: unknown) => {
      seen.end = end;
    });
  return seen;
}

describe('D37: patience', () => {
  it('D37: a step is tried again each half second after a failure that may pass; one notice tells why, without the text', async () => {
    for (const error of PASSING) {
      const { clock, notices, patience } = patient();
      const seen = failing(patience, error);
      await clock.advance(499);
      assert.equal(seen.calls, 1);
      await clock.advance(1);
      assert.equal(seen.calls, 2);
      await clock.advance(1_500);
      assert.deepEqual(seen, { calls: 5, end: null });
      assert.equal(notices.length, 1);
      assert.match(notices[0]!, /^waiting for it: /);
      assert.doesNotMatch(notices[0]!, /Ana/);
    }
  });

  it('D37: a step that works in the end gives its result', async () => {
    const { clock, patience } = patient();
    let calls = 0;
    const done = patience.run(async () => (calls++ < 3 ? Promise.reject(coded('57P03')) : 'done'));
    await clock.advance(1_500);
    assert.equal(await done, 'done');
  });

  it('D37: any other failure ends the start at once', async () => {
    for (const error of FINAL) {
      const { clock, notices, patience } = patient();
      const fail = () => Promise.reject(error);
      await assert.rejects(patience.run(fail), (thrown) => thrown === error);
      assert.deepEqual([clock.timers, notices], [0, []]);
    }
  });

  it('D37: the time of a step is over a minute after its first failure, and counts anew for the next step', async () => {
    const { clock, patience } = patient();
    for (let step = 0; step < 2; step += 1) {
      const seen = failing(patience, coded('57P03'));
      await clock.advance(59_999);
      assert.deepEqual(seen, { calls: 120, end: null });
      await clock.advance(1);
      assert.equal(seen.calls, 121);
      const end: unknown = seen.end;
      assert.ok(end instanceof SetupError);
      assert.match(end.message, /^it did not work within 60 s: the server is starting up.*57P03/);
      await clock.advance(60_000);
      assert.equal(seen.calls, 121);
    }
  });

  it('D37: where the step says why it cannot work, the minute ends with its own text', async () => {
    const { clock, patience } = patient();
    const error = new PassingSetupError('DATABASE_URL leads to a standby');
    const seen = failing(patience, error);
    await clock.advance(60_000);
    assert.equal(seen.end, error);
  });

  it('ends when the signal aborts, also between two tries', async () => {
    const stop = new AbortController();
    const { clock, patience } = patient(stop.signal);
    const seen = failing(patience, coded('57P03'));
    await clock.advance(700);
    stop.abort();
    await clock.advance(0);
    assert.equal((seen.end as Error).name, 'AbortError');
    assert.deepEqual([seen.calls, clock.timers], [2, 0]);
    const again = failing(patience, coded('57P03'));
    await clock.advance(0);
    assert.equal((again.end as Error).name, 'AbortError');
    assert.equal(again.calls, 0);
  });
});
