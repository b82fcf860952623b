/** What a word accepts depends on the channel's clock alone, wherever the database's clock stands (D39, D43, D46). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { databaseTime } from '../../src/ground/postgres/database-time.ts';
import { channelIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { commandLine } from '../cli/harness.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { hear, context, applicantAt } = await conversationsOf(store, key);
const HOUR_MS = 3_600_000;

/** A channel whose clock is ahead of the database's by so much, and tells whole seconds. */
async function channelAhead(aheadMs: number) {
  const now = (await databaseTime(database)).getTime() + aheadMs;
  const beginMs = Math.floor(now / 1_000) * 1_000;
  return (second: number) => new Date(beginMs + 1_000 * second);
}

/** An applicant whom the channel has told the consent in a second of its clock. */
async function consentToldAt(at: (second: number) => Date, arrival: number) {
  const ana = await applicantAt();
  await hear(await ana.tapEvent(undefined, at(-60)));
  await takeTurns(context);
  const channelMessageId = `wamid.out.${ana.id}`;
  await database.query(
    "UPDATE replies SET status = 'accepted', sent_at = now(), channel_message_id = $2 WHERE application_id = $1",
    [ana.id, toBigint(channelIndexOf(vault, channelMessageId))],
  );
  const told = {
    kind: 'status',
    channelMessageId,
    callback: null,
    status: 'delivered',
    failure: null,
  } as const;
  return { ana, delivered: { ...told, at: at(arrival) } };
}

it('a word accepts exactly where the question came in an earlier second of the channel’s clock', async () => {
  const anyAhead = fc.oneof(
    fc.integer({ min: -2 * HOUR_MS, max: 2 * HOUR_MS }),
    fc.integer({ min: -1_500, max: 1_500 }),
  );
  await fc.assert(
    fc.asyncProperty(
      anyAhead,
      fc.integer({ min: -40, max: 40 }),
      fc.integer({ min: -3, max: 3 }),
      fc.boolean(),
      async (aheadMs, arrival, gap, isTogether) => {
        const at = await channelAhead(aheadMs);
        const { ana, delivered } = await consentToldAt(at, arrival);
        const word = await ana.textEvent('sí', at(arrival + gap));
        if (isTogether) await hear(delivered, word);
        else {
          await hear(delivered);
          await hear(word);
        }
        await takeTurns(context);
        // Right after the consent it is found out what can be offered.
        const { rows } = await database.query(
          'SELECT work FROM conversation_work WHERE application_id = $1',
          [ana.id],
        );
        assert.deepEqual(rows, gap > 0 ? [{ work: 'offer' }] : []);
      },
    ),
    {
      numRuns: 60,
      examples: [
        // What was seen: the database 60 s behind, and a word 30 s before the question.
        [60_000, 0, -30, false],
        // And 0.35 s behind, with both in one second.
        [350, 0, 0, false],
      ],
    },
  );
});

it('two taps of one button count apart by the channel’s clock, also where the database’s is behind', async () => {
  for (const [apart, taps] of [
    [1, 1],
    [3, 2],
  ] as const) {
    const at = await channelAhead(HOUR_MS);
    const { ana, delivered } = await consentToldAt(at, 0);
    const [reply] = await ana.replies();
    // An old button: each tap of it counts.
    const old = reply!.buttons[0]!.payload.replace(/\.(\d+)\.yes$/, '.0.yes');
    assert.notEqual(old, reply!.buttons[0]!.payload);
    await hear(delivered, await ana.tapEvent(old, at(10)), await ana.tapEvent(old, at(10 + apart)));
    await takeTurns(context);
    assert.equal((await ana.row()).state.repeats, taps);
  }
});
