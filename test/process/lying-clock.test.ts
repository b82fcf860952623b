/** A worker whose own clock is wrong by 40 hours sends by the database's clock (D39). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { WEEKDAYS } from '../../src/domain/message/contact-window.ts';
import { startDelivery } from './delivery-support.ts';
import { scratch, until } from './support.ts';

const HOUR = 3_600_000;

/** Shifts every clock of the process's JavaScript. */
const shiftedBy = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(`
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...values) { if (values.length === 0) super(Real.now() + ${ms}); else super(...values); }
      static now() { return Real.now() + ${ms}; }
    };`)}`;

/** Contact windows for Mexico, where the test's phones are, open only on the UTC weekdays of these instants. */
function windowsFile(name: string, ...instants: readonly Date[]): string {
  const days = instants.map((at) => WEEKDAYS[at.getUTCDay()] as string);
  const hours = Object.fromEntries(days.map((day) => [day, ['00:00-24:00']]));
  const path = scratch(name);
  writeFileSync(path, JSON.stringify({ MX: { zones: ['UTC'], hours } }));
  return path;
}

describe('D39: a worker whose clock is wrong', { concurrency: 2 }, () => {
  for (const [name, shift] of [
    ['ahead', 40 * HOUR],
    ['behind', -40 * HOUR],
  ] as const) {
    test(`${name}: the contact window and the retries follow the database's clock`, async () => {
      const delivery = await startDelivery();
      const { rows } = await delivery.service.database.query<{ now: Date }>('SELECT now()');
      const now = (rows[0] as { now: Date }).now;
      const elsewhere = new Date(now.getTime() + shift);
      const NODE_OPTIONS = shiftedBy(shift);

      const closed = await delivery.register(1);
      const first = await delivery.startWorker({
        NODE_OPTIONS,
        CONTACT_WINDOWS_FILE: windowsFile(`closed-${name}.json`, elsewhere),
      });
      await until(
        'the message to wait',
        async () => (await delivery.statesOf(closed))[0] === 'queued contact_window',
      );
      await first.kill();
      assert.equal(delivery.takenOf(closed[0] as number).length, 0);

      delivery.apis[0].fault = () => ({ answer: { status: 429, body: '{"error":{"code":130429}}' } });
      const open = await delivery.register(1);
      const second = await delivery.startWorker({
        NODE_OPTIONS,
        CONTACT_WINDOWS_FILE: windowsFile(`open-${name}.json`, now, new Date(now.getTime() + 24 * HOUR)),
      });
      await until('the refusal', async () => (await delivery.statesOf(open))[0] === 'queued 130429');
      const { rows: due } = await delivery.service.database.query<{ seconds: number }>(
        'SELECT extract(epoch FROM due_at - changed_at)::float8 AS seconds FROM messages WHERE application_id = $1',
        [open[0]],
      );
      const seconds = due[0]?.seconds ?? 0;
      assert.ok(seconds > 3 && seconds < 9, `due in ${seconds} s`);
      await second.kill();
    });
  }
});
