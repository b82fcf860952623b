/** The versions of flows: a running conversation stays on the version that it began with (D43). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_FLOW } from '../../src/domain/conversation/default-flow.ts';
import { flowWith } from '../../src/domain/conversation/flow.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { flowIdOf, forgetFlows, readFlows } from '../../src/subjects/conversation/sql/flows.ts';
import { testDatabase } from '../support/database.ts';

const { database, runtime } = await testDatabase();
const own = (hours: number) => flowWith(DEFAULT_FLOW, { limits: { expire_after_hours: hours } });
const age = () => database.query("UPDATE flows SET first_used_at = now() - interval '2 days'");

describe('versions of flows (D43)', () => {
  it('one that no conversation has is forgotten after a day', async () => {
    const id = await inTransaction(runtime, (session) => flowIdOf(session, own(10)));
    await forgetFlows(runtime);
    assert.equal((await readFlows(runtime, [id])).size, 1);
    await age();
    await forgetFlows(runtime);
    assert.equal((await readFlows(runtime, [id])).size, 0);
  });

  it('one is not forgotten while a conversation begins with it', async () => {
    await inTransaction(runtime, (session) => flowIdOf(session, own(20)));
    await age();
    const id = await inTransaction(runtime, async (session) => {
      const found = await flowIdOf(session, own(20));
      await forgetFlows(runtime);
      await session.query(
        `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, flow_id)
          VALUES (1, 1, 1, 'pending_signature', 0, $1)`,
        [found],
      );
      return found;
    });
    await forgetFlows(runtime);
    assert.equal((await readFlows(runtime, [id])).size, 1);
  });
});
