/** Rows of the queue that keep their places while the keyboard stands among them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { steadyRows } from '../../console/src/queue/steady-rows.ts';
import type { QueueItemReply } from '../../src/subjects/desk/routes/queue-forms.ts';

const item = (id: number, score = 50): QueueItemReply => ({
  ...{ id, last_event: '0', partner: { id: 1, name: 'Uno' }, state: 'waiting', score, currency: 'COP' },
  ...{ debt_amount: 1, reference_amount: 1, created_at: '2026-03-02T10:00:00Z', due_at: null, claim: null },
  ...{ capacity: null, documents: { accepted: 0, received: 0, rejected: 0 } },
});
const shown = (rows: ReturnType<typeof steadyRows>) =>
  rows.rows.map(({ item: { id }, isGone }) => (isGone ? -id : id));

describe('steady rows (D48)', () => {
  it('are the newest page where nothing holds them', () => {
    const rows = steadyRows(null, [item(3), item(1)]);
    assert.deepEqual([shown(rows), rows.isBehind], [[3, 1], false]);
  });

  it('keep their places where they are held, mark what went, and show the newest of each', () => {
    const rows = steadyRows([item(1), item(2), item(3)], [item(3, 60), item(4), item(1)]);
    assert.deepEqual([shown(rows), rows.isBehind], [[1, -2, 3], true]);
    assert.equal(rows.rows[2]!.item.score, 60);
  });

  it('are not behind where only contents changed', () => {
    assert.equal(steadyRows([item(1), item(2)], [item(1, 9), item(2)]).isBehind, false);
  });
});
