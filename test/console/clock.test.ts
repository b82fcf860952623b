/** Ages and what is overdue go by the service's clock (D39). */
import assert from 'node:assert/strict';
import { it } from 'node:test';

const { noteTime, timeNow } = await import(String('../../console/src/api/service-time.ts'));
const { formatOf } = await import(String('../../console/src/format/formats.ts'));

const HOUR_MS = 3_600_000;
const answered = (at: number) => noteTime({ headers: new Headers({ Date: new Date(at).toUTCString() }) });

it('D39: a browser whose clock is wrong by days shows the same ages as one whose clock is right', () => {
  for (const wrongMs of [0, 30 * HOUR_MS, -30 * HOUR_MS]) {
    const serviceMs = Date.now() + wrongMs;
    answered(serviceMs);
    assert.ok(Math.abs(timeNow() - serviceMs) < 10_000, `${timeNow() - serviceMs} ms`);
    const dueAt = new Date(serviceMs + 5.5 * HOUR_MS).toISOString();
    assert.equal(formatOf('en').relative(dueAt), 'in 5 hours');
  }
});

it('an answer without a time changes nothing', () => {
  answered(Date.now());
  const before = timeNow();
  noteTime({ headers: new Headers() });
  assert.ok(timeNow() - before < 10_000);
});
