/** What must run in a transaction runs in one, and a conflict repeats the whole transaction. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { tellFailed } from '../../src/subjects/messages/sql/failed-messages.ts';
import { insertFirstPartner, readPartners } from '../../src/subjects/partners/sql/partners.ts';
import { issueKey } from '../../src/subjects/partners/uses/keys.ts';
import { addPartner } from '../../src/subjects/partners/uses/partners.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();

before(async () => {
  // A sequence keeps its value when its transaction is undone: the first insert fails, as in a deadlock.
  await store.database.query(`
    CREATE SEQUENCE inserts;
    CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('inserts') = 1 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = '40P01'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER fail_once BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION fail_once()`);
});

const SETTINGS = { environment: null, language: 'auto', dailyCap: null, brand: {} } as const;

it('a first partner and a key are stored although the first try of their transaction met a conflict', async () => {
  const { database, vault } = store;
  const text = { digest: Buffer.alloc(32, 1), pepper: '0'.repeat(32), hint: 'vnt_hint' };
  assert.equal(await insertFirstPartner(database, vault, { name: 'First', country: 'CO' }, text), true);
  assert.equal((await readPartners(database)).length, 1);
  await database.query("SELECT setval('inserts', 1, false)");
  const partner = await addPartner(
    { database, vault, clock: machineClock, actor: 'test' },
    { name: 'Second', country: 'CO' },
  );
  assert.equal(
    (await issueKey({ database, vault, clock: machineClock, actor: 'test' }, partner.id, SETTINGS)).key
      .partner.id,
    partner.id,
  );
});

it('neither a pool nor a connection passes for a transaction', async () => {
  const { database } = store;
  // @ts-expect-error The events of failed messages commit together with the failures.
  await tellFailed(database, []);
  const client = await database.connect();
  // @ts-expect-error Nobody has begun a transaction on this connection.
  await tellFailed(client, []);
  client.release();
  await inTransaction(database, (session) => tellFailed(session, []));
});
