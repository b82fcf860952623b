/** Whoever opens many envelopes lets other work of the process in between, by what was opened and not by a clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnvelopeTurns } from '../../src/subjects/applications/sql/read-envelopes.ts';

/** Whether other work came in between, and this may be asked again. */
function otherWork() {
  const seen = { came: false };
  setImmediate(() => {
    seen.came = true;
  });
  return seen;
}

test('other work comes after 32 envelopes of one applicant, and after a large one', async () => {
  const turns = new EnvelopeTurns();
  for (let round = 0; round < 2; round += 1) {
    const others = otherWork();
    for (let opened = 1; opened < 32; opened += 1) await turns.after(1);
    assert.equal(others.came, false);
    await turns.after(1);
    assert.equal(others.came, true);
  }
  const others = otherWork();
  await turns.after(62);
  assert.equal(others.came, false);
  await turns.after(100);
  assert.equal(others.came, true);
});

test('an envelope that does not open counts like one applicant', async () => {
  const turns = new EnvelopeTurns();
  const others = otherWork();
  for (let opened = 1; opened < 64; opened += 1) await turns.after(0);
  assert.equal(others.came, false);
  await turns.after(0);
  assert.equal(others.came, true);
});
