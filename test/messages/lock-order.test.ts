/** The order of locks (head of `migrations/0004_messages.sql`): a session that waits holds nothing of a later table. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { messageResults } from '../../src/subjects/messages/delivery/records.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { pauseTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext, keeping } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);

const WAITING = `
  SELECT count(*)::integer AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
/** Throws if another session holds one of these locks. */
const FREE = 'SELECT FROM recipients FOR UPDATE NOWAIT';

it('a record whose early event pauses a template locks the template before it locks a recipient', async () => {
  const register = await registrarOf(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  await register(key, [applicant()]);
  const failed: ChannelEvent = {
    kind: 'status',
    channelMessageId: 'wamid.1',
    callback: null,
    status: 'failed',
    at: new Date(),
    failure: { kind: 'pause_template', reason: '132015' },
  };
  const send = async () => {
    await applyChannelEvents({ database, vault }, [failed]);
    return { kind: 'accepted', channelMessageId: 'wamid.1' } as const;
  };
  const results = messageResults(keeping({ database, clock: machineClock }));
  const context = deliveryContext(store, { send }, { results });
  const { turn, free } = await inTransaction(database, async (session) => {
    await pauseTemplate(session, 'ventanilla_approved', '132015');
    const turn = await deliverDue(context, new AbortController().signal);
    await eventually('the record to wait', async () => (await database.query(WAITING)).rows[0].count === 1);
    const free = await database.query(FREE).catch((error: Error) => error);
    return { turn, free };
  });
  await turn.concluded;
  assert.ok(!(free instanceof Error), `${free}`);
  assert.equal(free.rowCount, 1);
});
