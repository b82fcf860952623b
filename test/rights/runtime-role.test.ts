/** The rights of persons need no more than the runtime role has (docs/roles.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { grantRuntime } from '../../src/ground/schema/runtime-role.ts';
import { Vault } from '../../src/seal/vault.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { tablesWith } from '../support/erased.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { closePartition } from '../support/old-partitions.ts';
import { makeRole } from '../support/runtime-role.ts';

const ownerUrl = await emptyDatabaseUrl();
const owner = openPool(ownerUrl);
await migrate(owner, machineClock);
const role = await makeRole(ownerUrl);
await grantRuntime(owner, role.name);

it('the runtime role exports and erases: applications in look-up buckets, their messages and their history', async () => {
  const store = {
    database: openPool(role.url),
    vault: new Vault(TEST_SECRETS),
    clock: machineClock,
    isSpread: false,
  };
  const { json } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  const phone = toPhone('+573005550177');
  const person = { name: 'Persona Sola', id_number: '55667788', phone };
  const [sent] = (await register(key, [applicant({ ...person, ...REJECTED })])) as [number];
  const [reviewed] = (await register(key, [applicant({ ...person, ...IN_REVIEW })])) as [number];
  await setMessages(owner, [sent], { status: 'accepted' });
  await json('application', 'approve', `${reviewed}`, '--reason', 'fine');
  await closePartition(owner);

  const named = ['--phone', phone, '--reason', 'x'];
  assert.equal((await json('subject', 'export', ...named, '--reveal')).applications.length, 2);
  const done = await json('subject', 'erase', ...named, '--close', '--yes');
  assert.deepEqual(done.applications, [sent, reviewed]);
  assert.deepEqual(
    await tablesWith({ ...store, database: owner }, [person.name, person.id_number, 'fine']),
    // The record of acts keeps the reason of the approval.
    ['operator_events'],
  );
});
