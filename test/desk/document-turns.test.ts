/** Files of documents are opened one after the other, and nobody waits longer than for 3 s (D48). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { documentRoutes } from '../../src/subjects/desk/routes/documents.ts';
import { Refusal } from '../../src/subjects/desk/uses/refusal.ts';
import { TestClock } from '../support/test-clock.ts';

const WAIT_MS = 3_000;

type Desk = Parameters<typeof documentRoutes>[0];

/** Two requests for a file at one moment; the first one's file opens after so long. Gives the second one's answer. */
async function secondAfter(ms: number) {
  const clock = new TestClock();
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  let opens = 0;
  const openFiles = async (): Promise<never> => {
    opens += 1;
    await opened;
    throw new Refusal(404, 'the store is empty');
  };
  const [route] = documentRoutes({ clock } as unknown as Desk, openFiles);
  const call = {
    params: { id: '1', document: '1' },
    session: { operatorId: 1 },
    body: { reason: 'is it readable' },
    idempotencyKey: null,
  };
  const ask = () => route!.run(call as never);
  const answers = Promise.all([ask(), ask()]);
  await clock.advance(ms);
  assert.equal(opens, 1);
  open();
  const [first, { status, retryAfterSeconds }] = await answers;
  assert.equal(first.status, 404);
  return { status, retryAfterSeconds, opens };
}

it('D48: the second file is opened after the first, and is not where it waited for longer than 3 s', async () => {
  assert.deepEqual(await secondAfter(WAIT_MS), { status: 404, retryAfterSeconds: undefined, opens: 2 });
  assert.deepEqual(await secondAfter(WAIT_MS + 1), { status: 429, retryAfterSeconds: 5, opens: 1 });
});
