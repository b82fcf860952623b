/**
 * One bad row stops no other: a damaged, moved or malformed row is parked alone, and the others go on
 * (docs/messages.md, "Personal data that does not open").
 */

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { applicationOfMessage, toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { formatCallback } from '../../src/domain/message/outgoing-message.ts';
import type { MessageReason } from '../../src/domain/message/reasons.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { errorFields } from '../../src/ground/base/describe-error.ts';
import { eachApart } from '../../src/ground/postgres/row-fault.ts';
import { Vault } from '../../src/seal/vault.ts';
import { messageResults } from '../../src/subjects/messages/delivery/records.ts';
import type { MessageFault } from '../../src/subjects/messages/delivery/turn.ts';
import { type DeliveryContext, deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { retryMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import { advanceUsage } from '../../src/subjects/partners/sql/usage.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { readChats } from '../../src/subjects/simulator/read-chats.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { deliveryContext, keeping } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { makeDue, setAll, setMessages } from '../support/messages.ts';
import { batchOf as storedBatchOf } from '../support/stored-applications.ts';
import { testUpkeep } from '../support/upkeep.ts';

const store = await testDatabase();
const { database, vault } = store;
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const newKey = async (): Promise<number> => (await json('key', 'issue', '--partner', `${partner}`)).id;
const key = await newKey();

let serial = 3_300_000_000;
/** Applications of one batch, each with a due message. */
async function aBatch(size: number, keyId = key): Promise<number[]> {
  const applications = Array.from({ length: size }, () => {
    serial += 1;
    return applicant({ phone: toPhone(`+57${serial}`), id_number: `${serial}`, name: `Persona ${serial}` });
  });
  return register(keyId, applications);
}

function contextOf(changes: Partial<DeliveryContext> = {}) {
  const sent: number[] = [];
  const faults: MessageFault[] = [];
  const channel: TemplateChannel = {
    send: async ({ applicationId, callback }) => {
      sent.push(applicationId);
      return { kind: 'accepted', channelMessageId: `wamid.${callback}` };
    },
  };
  const onFault = (fault: MessageFault) => faults.push(fault);
  return { context: deliveryContext(store, channel, { onFault, ...changes }), sent, faults };
}

/** Runs turns until nothing is due; gives the sent messages, in order, and the reported faults. */
async function deliverAll(changes: Partial<DeliveryContext> = {}) {
  const { context, sent, faults } = contextOf(changes);
  for (let turns = 0; turns < 50; turns += 1) {
    const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
    await concluded;
    if (claimed === 0) return { sent: sent.toSorted((a, b) => a - b), faults };
  }
  return assert.fail('the queue does not end');
}

async function statesOf(ids: readonly number[]): Promise<string[]> {
  const { rows } = await database.query<{ state: string }>(
    `SELECT concat_ws(' ', status, reason) AS state FROM messages WHERE application_id = ANY ($1)
    ORDER BY application_id`,
    [ids],
  );
  return rows.map(({ state }) => state);
}

const batchOf = async (id: number): Promise<string> => (await storedBatchOf(database, id)).id;
/** Called twice, this restores the byte. */
const flipByte = async (batchId: string) =>
  database.query(
    'UPDATE batches SET envelope = set_byte(envelope, 40, get_byte(envelope, 40) # 1) WHERE id = $1',
    [batchId],
  );
const each = (ids: readonly number[], state: string) => ids.map(() => state);

beforeEach(() => setAll(database, ['queued'], { status: 'cancelled' }));

describe('an envelope that does not open', () => {
  it('parks its messages, which are reported by batch and ids and go out once the envelope is repaired', async () => {
    const [bad, good] = [await aBatch(3), await aBatch(2)];
    const batchId = await batchOf(bad[0] as number);
    await flipByte(batchId);
    const { sent, faults } = await deliverAll();
    assert.deepEqual(sent, good);
    assert.deepEqual(await statesOf(bad), each(bad, 'failed unreadable'));
    assert.deepEqual(faults, [{ reason: 'unreadable', applicationIds: bad, batchId, error: null }]);
    await flipByte(batchId);
    for (const id of bad) await retryMessages(database, toApplicationId(id));
    assert.deepEqual((await deliverAll()).sent, bad);
  });

  it('parks its messages also if another key has its id or it holds other data', async () => {
    const [noKey, list, text, good] = await Promise.all(Array.from({ length: 4 }, () => aBatch(1)));
    const other = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[1, TEST_SECRETS.indexKey]]) });
    const reseal = async (ids: readonly number[] | undefined, by: Vault, content: string) => {
      const batch = await storedBatchOf(database, ids?.[0] as number);
      await database.query('UPDATE batches SET envelope = $2 WHERE id = $1', [
        batch.id,
        by.seal(content, `batch:${batch.seal_id}`),
      ]);
    };
    await reseal(noKey, other, '{}');
    await reseal(list, vault, 'null');
    await reseal(text, vault, '{"name":["Ana"],"id_number":["1"],"phone":[573001234567],"city":["Cali"]}');
    const { sent, faults } = await deliverAll();
    assert.deepEqual(sent, good);
    assert.equal(faults.length, 3);
    const bad = [noKey, list, text].flatMap((ids) => ids ?? []);
    assert.deepEqual(await statesOf(bad), each(bad, 'failed unreadable'));
  });

  it('is marked in the list and in show, beside the others, with a notice and exit code 1', async () => {
    const [bad] = (await aBatch(1)) as [number];
    const [good] = (await aBatch(1)) as [number];
    await flipByte(await batchOf(bad));
    const list = await run('application', 'list', ...REVEAL);
    assert.equal(list.code, 1);
    assert.match(list.out, new RegExp(`^${good} .*Persona`, 'm'));
    assert.match(list.out, new RegExp(`^${bad} .*\\(unreadable\\)`, 'm'));
    assert.match(list.err, new RegExp(`personal data of .*\\b${bad}\\b.* cannot be shown`));
    const rows: Record<string, unknown>[] = JSON.parse((await run('application', 'list', '--json')).out);
    const brief = (id: number) =>
      rows.filter((row) => row.id === id).map((row) => [row.fault, row.name === null]);
    assert.deepEqual([brief(good), brief(bad)], [[[null, false]], [['unreadable', true]]]);
    const show = await run('application', 'show', `${bad}`);
    assert.equal(show.code, 1);
    assert.match(show.out, /^Personal data +unreadable$/m);
    assert.equal((await run('application', 'disburse', `${bad}`, '--reason', 'paid')).code, 0);
  });

  it('does not hide the chats of other applications', async () => {
    const ids = [...(await aBatch(1)), ...(await aBatch(1))] as [number, number];
    await deliverAll();
    await flipByte(await batchOf(ids[0]));
    const { chats } = await readChats({
      database,
      vault,
      simulator: new Simulator(async () => {}, machineClock),
    });
    const shown = chats.flatMap(({ messages }) => messages.map(({ applicationId }) => applicationId));
    assert.ok(shown.includes(toApplicationId(ids[1])) && !shown.includes(toApplicationId(ids[0])));
  });
});

describe('personal data of another applicant', () => {
  const SWAPS: [what: string, sql: string, sizes: [number, number]][] = [
    [
      'blind indexes',
      `UPDATE batches SET phones = ARRAY[phones[2], phones[1]], id_numbers = ARRAY[id_numbers[2], id_numbers[1]]
      WHERE id = $1::bigint >> 7 AND id = $2::bigint >> 7`,
      [2, 0],
    ],
    [
      'envelope',
      `WITH b AS MATERIALIZED (SELECT * FROM batches WHERE id IN ($1::bigint >> 7, $2::bigint >> 7))
      UPDATE batches a SET envelope = b.envelope, seal_id = b.seal_id FROM b
      WHERE a.id IN ($1::bigint >> 7, $2::bigint >> 7) AND a.id <> b.id`,
      [1, 1],
    ],
  ];
  for (const [what, sql, [first, second]] of SWAPS) {
    it(`two applications with each other's ${what}: nothing is sent or shown`, async () => {
      const [one, two] = [...(await aBatch(first)), ...(await aBatch(second))] as [number, number];
      const names = async () =>
        JSON.parse((await run('application', 'list', '--limit', '2', '--json')).out).map(
          ({ name }: { name: string }) => name,
        );
      const phone = (await json('application', 'show', `${one}`, ...REVEAL)).phone as string;
      assert.ok((await database.query(sql, [one, two])).rowCount);
      const { sent, faults } = await deliverAll();
      assert.deepEqual(sent, []);
      assert.deepEqual(await statesOf([one, two]), each([one, two], 'failed mismatch'));
      assert.deepEqual(faults.flatMap(({ applicationIds }) => applicationIds).toSorted(), [one, two]);
      assert.ok(faults.every(({ reason }) => reason === 'mismatch'));
      assert.deepEqual(await names(), [null, null]);
      const [found, ...others] = JSON.parse(
        (await run('application', 'list', '--phone', phone, '--json')).out,
      );
      assert.deepEqual([others, found.fault, found.phone], [[], 'mismatch', null]);
    });
  }

  it('two forms of one phone number are one phone (D11)', async () => {
    const ids = await register(key, [applicant({ phone: toPhone('+5215512345678'), id_number: '5215' })]);
    assert.deepEqual((await deliverAll()).sent, ids);
  });
});

describe('other bad rows', () => {
  it('a message whose currency or brand makes no text is parked, and the others go out', async () => {
    const brandless = await newKey();
    const [[currency], brand, good] = [await aBatch(1), await aBatch(2, brandless), await aBatch(1)];
    const place = 28 * ((currency as number) % 128) + 9;
    await database.query(
      "UPDATE batches SET facts = overlay(facts PLACING 'P$!' FROM $2) WHERE id = $1::bigint >> 7",
      [currency, place],
    );
    await database.query("UPDATE api_keys SET brand = 'null' WHERE id = $1", [brandless]);
    const { sent, faults } = await deliverAll();
    assert.deepEqual(sent, good);
    const bad = [currency as number, ...brand];
    assert.deepEqual(await statesOf(bad), each(bad, 'failed unsendable'));
    assert.deepEqual(
      faults.map(({ reason, error }) => [reason, (error as Error).name]),
      [
        ['unsendable', 'RangeError'],
        ['unsendable', 'TypeError'],
      ],
    );
  });

  it('a message that makes the statement fail is found among 200, waits, and fails in the end', async () => {
    const ids = await aBatch(100);
    ids.push(...(await aBatch(100)));
    const bad = ids[120] as number;
    await setMessages(database, [bad], { attempts: 32_767, tries: 0 });
    const { sent, faults } = await deliverAll();
    assert.deepEqual(
      sent,
      ids.filter((id) => id !== bad),
    );
    assert.deepEqual(await statesOf([bad]), ['queued unsendable']);
    assert.deepEqual(
      faults.map(({ applicationIds, error }) => [applicationIds, errorFields(error).code]),
      [[[bad], '22003']],
    );
    for (let turn = 0; turn < 15; turn += 1) {
      await makeDue(database, bad);
      await deliverAll();
    }
    assert.deepEqual(await statesOf([bad]), ['failed unsendable']);
  });

  it('a send result that cannot be recorded is dropped alone', async () => {
    const ids = await aBatch(20);
    await setMessages(database, ids, { status: 'sending', attempts: 1 });
    const dropped: number[] = [];
    const log = messageResults({
      ...keeping({ database, clock: machineClock }),
      onLost: (some) => dropped.push(...some.map(({ messageId }) => applicationOfMessage(messageId))),
    });
    const record = (applicationId: number, reason: MessageReason) =>
      log.write({
        messageId: toMessageId(`${applicationId}`),
        type: 'approved',
        partnerId: toPartnerId(1),
        attempt: 1,
        ...{ status: 'failed', channelIndex: null, reason, afterMs: 0, signal: 'none' },
      });
    await Promise.all(
      ids.map((id, index) => record(id, index % 7 === 3 ? ('a\0b' as MessageReason) : '131026')),
    );
    const bad = ids.filter((_, index) => index % 7 === 3);
    assert.deepEqual(dropped.toSorted(), bad);
    assert.deepEqual(
      await statesOf(ids),
      ids.map((id) => (bad.includes(id) ? 'sending' : 'failed 131026')),
    );
  });

  it('an event that cannot be applied does not stop the others', async () => {
    const ids = await aBatch(4);
    await deliverAll();
    const at = new Date();
    const events = ids.map(
      (id): ChannelEvent => ({
        kind: 'status',
        channelMessageId: `wamid.${id}.1`,
        callback: formatCallback(toMessageId(`${id}`), 1),
        status: 'delivered',
        at,
        failure: null,
      }),
    );
    const bad: ChannelEvent = {
      kind: 'text',
      from: toPhone('+573009990000'),
      body: 'BAJA',
      at: new Date(-8.64e15),
    };
    const counts = await applyChannelEvents({ database, vault }, [
      ...events.slice(0, 2),
      bad,
      ...events.slice(2),
    ]);
    assert.equal(counts.unapplied.length, 1);
    assert.equal(counts.unapplied[0]?.event, 'text');
    assert.deepEqual(await statesOf(ids), each(ids, 'delivered'));
  });
});

it('each job of the upkeep fails alone, and is reported by its name', async () => {
  const [lost] = (await aBatch(1)) as [number];
  await setMessages(database, [lost], { status: 'sending', dueInMs: 0 });
  const upkeep = await testUpkeep(store);
  for (const table of ['usage_totals', 'batch_receipts'])
    await database.query(`ALTER TABLE ${table} RENAME TO gone_${table}`);
  const failures = await upkeep.turn();
  for (const table of ['usage_totals', 'batch_receipts'])
    await database.query(`ALTER TABLE gone_${table} RENAME TO ${table}`);
  // The look for troubles reads the usage as `status` does.
  assert.deepEqual(
    failures.map(([work]) => work),
    ['upkeep: advance usage', 'upkeep: note troubles', 'upkeep: delete receipts'],
  );
  assert.deepEqual(await statesOf([lost]), ['uncertain no_record']);
  assert.deepEqual(await upkeep.turn(), []);
});

it('a partner whose usage cannot be added up does not stop the usage of others', async () => {
  const { id: second } = await json('partner', 'add', '--name', 'Bolt', '--country', 'CO');
  const partners = [Number(partner), Number(second)];
  await database.query(
    `INSERT INTO usage_entries SELECT unnest($1::integer[]), now(), 0, 7 ON CONFLICT (partner_id, second, slot) DO NOTHING`,
    [partners],
  );
  await database.query('UPDATE usage_totals SET total = 9223372036854775807 WHERE partner_id = $1', [
    partners[0],
  ]);
  await assert.rejects(advanceUsage(database), { code: '22003' });
  const { rows } = await database.query('SELECT partner_id FROM usage_entries WHERE partner_id = ANY ($1)', [
    partners,
  ]);
  assert.deepEqual(new Set(rows.map(({ partner_id }) => partner_id)), new Set([partners[0]]));
  await database.query('UPDATE usage_totals SET total = 0 WHERE partner_id = $1', [partners[0]]);
});

describe('eachApart', () => {
  it('leaves out exactly the bad items, and throws an error that is not the fault of a row', async () => {
    for (const bad of [[], [0], [9], [3, 4, 8], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const done = new Set<number>();
      const faults: number[] = [];
      const work = async (some: readonly number[]) => {
        if (some.some((item) => bad.includes(item))) throw new RangeError('bad');
        for (const item of some) done.add(item);
      };
      await eachApart([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], work, (item) => faults.push(item));
      assert.deepEqual(faults, bad);
      assert.equal(done.size, 10 - bad.length);
    }
    const down = new Error('Connection terminated unexpectedly');
    await assert.rejects(
      eachApart(
        [1, 2],
        () => Promise.reject(down),
        () => assert.fail(),
      ),
      down,
    );
  });
});

it('a logged error says what failed and where, and nothing that a row holds', async () => {
  const error = await database.query("SELECT 'Inés Peña'::integer").catch((reason: unknown) => reason);
  const facts = errorFields(new Error('of Inés Peña', { cause: error }));
  assert.deepEqual((facts.cause as Record<string, unknown>).code, '22P02');
  assert.doesNotMatch(JSON.stringify(facts), /Peña/);
});
