/** A batch with damaged facts stops no other: its applications are named, beside the others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { TemplateChannel } from '../../src/domain/message/channel.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { formatCallback } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { MessageFault } from '../../src/subjects/messages/delivery/turn.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { readChats } from '../../src/subjects/simulator/read-chats.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, vault } = store;
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let serial = 3_100_000_000;
const nextPhone = () => `+57${++serial}`;

const send = async () => {
  const faults: MessageFault[] = [];
  const channel: TemplateChannel = {
    send: async ({ callback }) => ({ kind: 'accepted', channelMessageId: `wamid.${callback}` }),
  };
  const context = deliveryContext(store, channel, { onFault: (fault) => faults.push(fault) });
  await untilDone(async () => {
    const { claimed, concluded } = await deliverDue(context, new AbortController().signal);
    await concluded;
    return claimed === 0;
  });
  return faults;
};
const stateOf = async (id: number): Promise<string> =>
  (await database.query('SELECT status FROM messages WHERE application_id = $1', [id])).rows[0].status;
const listed = async (...filter: string[]) =>
  new Map<number, Record<string, unknown>>(
    JSON.parse((await run('application', 'list', '--json', ...filter)).out).map(
      (row: Record<string, unknown>) => [row.id, row],
    ),
  );

const DAMAGES: [what: string, facts: string][] = [
  ['end in the middle of an application', 'substring(facts FROM 1 FOR 28 + 10)'],
  ['end before it', 'substring(facts FROM 1 FOR 28)'],
  ['hold no such codes', "substring(facts FROM 1 FOR 28) || decode(repeat('ff', 28), 'hex')"],
];

for (const [what, facts] of DAMAGES) {
  describe(`facts that ${what}`, () => {
    it('are named by id, beside the others, wherever applications are read', async () => {
      const phones = [nextPhone(), nextPhone()] as const;
      const [good, bad] = (await register(
        key,
        phones.map((phone) => applicant({ phone: toPhone(phone) })),
      )) as [number, number];
      await database.query(`UPDATE batches SET facts = ${facts} WHERE id = $1::bigint >> 7`, [bad]);

      for (const filter of [[], ['--phone', phones[1]]]) {
        const found = (await listed(...filter)).get(bad);
        assert.deepEqual(
          [found?.fault, found?.decision, found?.status, found?.score, found?.name],
          ['unreadable', null, null, null, null],
        );
      }
      const rows = await listed();
      assert.equal(rows.get(good)?.fault, null);
      assert.equal(rows.get(good)?.score, 100);
      const list = await run('application', 'list');
      assert.equal(list.code, 1);
      assert.match(list.out, new RegExp(`^${bad} .*\\(unreadable\\)`, 'm'));
      assert.match(list.err, new RegExp(`\\b${bad}\\b.* cannot be shown`));
      const show = await run('application', 'show', `${bad}`);
      assert.deepEqual([show.code, /unreadable/.test(show.out)], [1, true]);
      assert.equal((await run('application', 'list', '--status', 'pending_signature')).code, 0);

      const review = await run('application', 'disburse', `${bad}`, '--reason', 'paid');
      assert.deepEqual([review.code, /cannot be read/.test(review.err)], [1, true]);
      assert.equal((await run('application', 'disburse', `${good}`, '--reason', 'paid')).code, 0);
      await database.query('SELECT * FROM applications');
      await readChats({ database, vault, simulator: new Simulator(async () => {}, machineClock) });
    });

    it('park the message, while other messages and their events go on', async () => {
      const [good, bad] = (await register(
        key,
        [nextPhone(), nextPhone()].map((phone) => applicant({ phone: toPhone(phone) })),
      )) as [number, number];
      await database.query(`UPDATE batches SET facts = ${facts} WHERE id = $1::bigint >> 7`, [bad]);
      const faults = await send();
      assert.ok(faults.some(({ applicationIds }) => applicationIds.includes(toApplicationId(bad))));
      assert.deepEqual([await stateOf(good), await stateOf(bad)], ['accepted', 'failed']);
      const event = (id: number): ChannelEvent => ({
        ...{
          kind: 'status',
          channelMessageId: `wamid.${id}.1`,
          callback: formatCallback(toMessageId(`${id}`), 1),
        },
        ...{ status: 'delivered', at: new Date(), failure: null },
      });
      await applyChannelEvents({ database, vault }, [event(good), event(bad)]);
      assert.equal(await stateOf(good), 'delivered');
    });
  });
}
