/** `ventanilla event resend` (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventIdOf } from '../../../../src/seal/event-ids.ts';
import { commandLine } from '../../../cli/harness.ts';
import { testDatabase } from '../../../support/database.ts';
import { addEvents, queueOf } from '../../../support/pushes.ts';
import { addPartner } from '../../../support/service.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);

describe('event resend', () => {
  it('D41: pushes the events again that come after one of them, or from a time on', async () => {
    const { partnerId } = await addPartner(store);
    const partner = `${partnerId}`;
    await addEvents(store, partnerId, [1, 2]);
    await store.database.query(
      "UPDATE partner_events SET at = now() - interval '2 days' WHERE partner_id = $1",
      [partnerId],
    );
    await addEvents(store, partnerId, [1]);
    const resend = (...args: string[]) => run('event', 'resend', '--partner', partner, ...args);
    const id = (number: number) => eventIdOf(store.vault, partnerId, number);
    assert.match((await resend('--after', id(1))).err, /has no endpoint: set one with/);

    await run('partner', 'endpoint', 'set', partner, '--url', 'https://partner.example/');
    assert.deepEqual(await json('event', 'resend', '--partner', partner, '--after', id(1)), { queued: 2 });
    const numbers = async () => (await queueOf(store, partnerId)).map(({ number }) => number);
    assert.deepEqual(await numbers(), [2, 3]);
    assert.match((await resend('--after', id(0))).out, /^1 event is pushed again\.\n$/);
    assert.match((await resend('--after', id(0))).out, /^There is nothing to push again/);

    await store.database.query('DELETE FROM pushes WHERE partner_id = $1', [partnerId]);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    assert.match((await resend('--since', yesterday)).out, /^1 event is/);
    assert.deepEqual(await numbers(), [3]);
    assert.match((await resend('--since', '2999-01-01')).out, /^There is nothing/);

    await run('partner', 'endpoint', 'disable', partner);
    assert.match(
      (await resend('--after', id(0))).err,
      /is disabled: enable it with `partner endpoint set` first/,
    );
  });

  it('D41: refuses a place that is none, and two places', async () => {
    const { partnerId } = await addPartner(store);
    const { partnerId: other } = await addPartner(store);
    await run('partner', 'endpoint', 'set', `${partnerId}`, '--url', 'https://partner.example/');
    const resend = (...args: string[]) => run('event', 'resend', '--partner', `${partnerId}`, ...args);
    for (const after of [eventIdOf(store.vault, other, 1), 'evt_x', '12']) {
      assert.match((await resend('--after', after)).err, /not the ID of an event of partner/);
    }
    for (const since of ['yesterday', '2026-11-20 10:00', '2026-11-20T10:00', '2026-13-01', '12']) {
      assert.equal((await resend('--since', since)).code, 2, since);
    }
    assert.match((await resend()).err, /either --after or --since/);
    assert.match(
      (await resend('--after', 'evt_x', '--since', '2026-11-20')).err,
      /either --after or --since/,
    );
  });
});
