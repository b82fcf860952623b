/**
 * A crash between any two statements of a conversation (D43): whatever statement a process dies at, before it or once
 * took effect, the conversation comes to the same end, with the same replies, events and evidence.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { signingOf } from '../../src/conversation/uses/neighbours.ts';
import { commandLine } from '../cli/harness.ts';
import { APPROVED } from '../support/applicant.ts';
import { conversationsOf, goodSigning } from '../support/conversations.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { Crash, type Death, Dying } from '../support/dying.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
await database.query(
  `UPDATE api_keys SET brand = '{"conversation": {"steps": {"earnings": false, "debts": false}}}' WHERE id = $1`,
  [key],
);

/** The next process takes up what the last one had in hand. */
const HURRY = `
  WITH due AS (UPDATE conversation_work SET due_at = now(), leased_until = NULL RETURNING id) SELECT id FROM due`;

/** Inputs without a turn: the locks of a session that died live a moment longer, and a turn leaves what is locked. */
const WAITING = 'SELECT FROM conversation_inputs WHERE turn IS NULL LIMIT 1';

/** From the tap to the signature, with a death on the way. */
async function outcome(death: Death | null) {
  const dying = new Dying(death);
  const { recordEvidence } = signingOf(vault);
  const { applicantAt, hear, settle } = await conversationsOf(
    { ...store, runtime: dying.over(sessionsOf(store)) },
    key,
    { signing: goodSigning({ recordEvidence }) },
  );
  const again = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      return again(act);
    }
  };
  const ana = await applicantAt(APPROVED);
  dying.arm();
  const send = async (event: Parameters<typeof hear>[0]) => {
    // The channel tells it again until it is answered.
    await again(() => hear(event!));
    do await again(settle);
    while ((await database.query(HURRY)).rows.length > 0 || (await database.query(WAITING)).rows.length > 0);
  };
  await send(await ana.tapEvent());
  for (let step = 0; step < 3; step += 1)
    await send(await ana.tapEvent((await ana.replies()).at(-1)!.buttons[0]!.payload));
  await send(await ana.textEvent('1234'));
  await send(await ana.textEvent('123456'));
  const { rows } = await database.query<{ kind: string }>(
    'SELECT kind FROM contract_evidence WHERE application_id = $1 ORDER BY number',
    [ana.id],
  );
  const result = {
    place: await ana.place(),
    replies: (await ana.replies()).map(({ text }) => text),
    events: await ana.events(),
    evidence: rows.map(({ kind }) => kind),
  };
  return { effective: dying.effective, result };
}

/** Of all deaths one in so many: they take 40 s alone, and `CRASHES=all` runs them. */
const ONE_IN = process.env.CRASHES === 'all' ? 1 : 8;

it('D43: a conversation comes to the same end wherever a process dies', async () => {
  const { effective, result } = await outcome(null);
  assert.equal(result.place, 'signed service');
  const deaths = effective.flatMap((isEffective, index): Death[] => [
    { at: index + 1, isAfter: false },
    // Within a transaction this is the death before the next statement.
    ...(isEffective ? [{ at: index + 1, isAfter: true }] : []),
  ]);
  assert.ok(deaths.length > 200, `${deaths.length} deaths`);
  for (const death of deaths.filter((_, index) => index % ONE_IN === 0)) {
    assert.deepEqual(
      (await outcome(death)).result,
      result,
      `statement ${death.at}, ${JSON.stringify(death)}`,
    );
  }
});
