/**
 * Everything that changes pushes at once: no sessions wait for each other in a circle (head of 0006_push.sql). One
 * deadlock of PostgreSQL's own may be among them: `SKIP LOCKED` waits where a row gets a newer version at that moment,
 * which a busy machine showed twice in 3,000 rounds, and the service does such work again. A wrong order makes several.
 * What the test writes itself has a transaction: on Citus all statements without one count as one (docs/scale.md).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PartnerId } from '../../../src/domain/partner/credential.ts';
import { errorCode } from '../../../src/ground/base/describe-error.ts';
import { inTransaction } from '../../../src/ground/postgres/database.ts';
import { claimPushes } from '../../../src/subjects/events/push/sql/claim.ts';
import { disableEndpoint, rotateSecret } from '../../../src/subjects/events/push/sql/endpoints.ts';
import { dropPushes, mendPushes, resendEvents } from '../../../src/subjects/events/push/sql/queue.ts';
import { type PushRecord, recordPushes } from '../../../src/subjects/events/push/sql/record.ts';
import { testDatabase } from '../../support/database.ts';
import { addEvents, setEndpoint } from '../../support/pushes.ts';
import { addPartner } from '../../support/service.ts';

const store = await testDatabase();
const { database, vault } = store;
const ROUNDS = 200;
const MOST_OF_POSTGRESQL = 1;
/** Times as a clock leaves them that was ahead; waits for no lock. */
const AHEAD = `
  UPDATE pushes SET set_at = now() + interval '1 hour', due_at = now() + interval '1 hour'
  WHERE (partner_id, number) IN (
    SELECT partner_id, number FROM pushes WHERE number % 3 = 0 FOR NO KEY UPDATE SKIP LOCKED)`;
const PEER = { url: 'https://partner.example/', host: '' };

it('D41: workers, operators, the upkeep and new events together never deadlock', async () => {
  const partners: PartnerId[] = [];
  for (let n = 0; n < 4; n += 1) partners.push((await addPartner(store)).partnerId);
  for (const partner of partners) await setEndpoint(store, partner, PEER);
  const failures: string[] = [];
  let deadlocks = 0;
  let recorded = 0;
  const repeatedly = async (act: (round: number) => Promise<unknown>) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await act(round).catch((error: unknown) => {
        if (errorCode(error) === '40P01') deadlocks += 1;
        // A busy machine may cut a wait off.
        else if (errorCode(error) !== '57014') failures.push(String(error));
      });
    }
  };
  const worker = () =>
    repeatedly(async (round) => {
      const { claimed } = await claimPushes(database, []);
      const results = ['delivered', 'delivered', 'failed', 'unsent', 'forgotten'] as const;
      // In another order in each session, as answers come.
      const records = claimed
        .map((push): PushRecord => {
          const result = results[(push.number + round) % results.length]!;
          return { ...push, result, failure: result === 'failed' ? 'timeout' : null, waitMs: 0 };
        })
        .sort(() => Math.random() - 0.5);
      recorded += records.length;
      if (records.length > 0) await recordPushes(database, records);
    });
  const one = (round: number) => partners[round % partners.length]!;
  await Promise.all([
    worker(),
    worker(),
    worker(),
    repeatedly((round) => addEvents(store, one(round), [1, 2, 3, 1, 2, 4, 5])),
    repeatedly((round) => addEvents(store, one(round + 1), [1, 6, 7])),
    repeatedly((round) => resendEvents(database, one(round), 0)),
    repeatedly(async (round) => {
      await inTransaction(database, (session) => disableEndpoint(session, one(round * 3)));
      await dropPushes(database);
      await setEndpoint(store, one(round * 3), PEER);
    }),
    repeatedly((round) => rotateSecret(database, vault, one(round), `whsec_${'A'.repeat(43)}=`)),
    repeatedly(async () => {
      await inTransaction(database, (session) => session.query(AHEAD));
      await mendPushes(database);
    }),
  ]);
  assert.deepEqual(failures, []);
  assert.ok(deadlocks <= MOST_OF_POSTGRESQL, `${deadlocks} deadlocks`);
  assert.ok(recorded > ROUNDS, `${recorded}`);
});
