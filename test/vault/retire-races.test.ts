/** Nothing that is sealed with a retired data key is stored, whoever still seals with it at that moment. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction, type Transaction } from '../../src/ground/postgres/database.ts';
import { refuseDataKey } from '../../src/seal/data-keys.ts';
import { confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { resealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import { rotateSecret, writeEndpoint } from '../../src/subjects/events/push/sql/endpoints.ts';
import type { Account } from '../../src/subjects/operators/sql/account.ts';
import { lockAccountByLink, setFactors, setTotp } from '../../src/subjects/operators/sql/factors.ts';
import { insertOperator } from '../../src/subjects/operators/sql/operators.ts';
import { digestOf } from '../../src/subjects/operators/uses/tokens.ts';
import { newSecret } from '../../src/subjects/signing/sql/contract-secrets.ts';
import { beginContract } from '../../src/subjects/signing/sql/contracts.ts';
import { readReseal } from '../../src/subjects/vault/sql/reseals.ts';
import { resealTurn } from '../../src/subjects/vault/uses/reseal-step.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { setEndpoint } from '../support/pushes.ts';
import { NEW, OLD } from '../support/rotated-secrets.ts';
import { addPartner } from '../support/service.ts';
import { emptyApplications } from '../support/stored-applications.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const old = { ...store, vault: new Vault(OLD) };
/** Has both keys, and still seals with the old one. */
const late = new Vault({ ...NEW, dataKeys: new Map([...NEW.dataKeys].toReversed()) });
const clock = new TestClock();
const next = { ...store, vault: new Vault(NEW), clock };
const witnesses = await loadWitnesses();
const kinds = witnesses.dataKeys;
const { run } = commandLine(next);
const { keyId, partnerId } = await addPartner(store);

let phones = 0;
async function register(process: TestDatabase): Promise<number> {
  phones += 1;
  const phone = `+5730056${`${phones}`.padStart(5, '0')}` as never;
  return (await (await registrarOf(process))(keyId, [applicant({ phone })]))[0] as number;
}

const keysOf = async () =>
  (
    await database.query(
      `SELECT DISTINCT get_byte(sealed, 0) AS key FROM
        (SELECT envelope AS sealed FROM batches UNION ALL SELECT sealed FROM partner_endpoints) AS s ORDER BY 1`,
    )
  ).rows.map(({ key }) => key as number);
const refused = async () => (await database.query('SELECT refused_keys FROM elapsed')).rows[0].refused_keys;
const forgetServices = () =>
  database.query("UPDATE secret_checks SET seals_at = now() - interval '61 seconds'");

beforeEach(async () => {
  await emptyApplications(database);
  await database.query('DELETE FROM reseals');
  await database.query("DELETE FROM secret_checks WHERE name LIKE 'DATA_KEYS%'");
  await database.query("UPDATE elapsed SET refused_keys = '{}'");
  await database.query('TRUNCATE partner_endpoints');
  await confirmSecrets(database, OLD, witnesses, machineClock);
  await forgetServices();
});

/** Lets the time pass in which a statement ends that began before, and then as much as other transactions need. */
async function afterStatements<T>(retired: Promise<T>): Promise<T> {
  let isOver = false;
  const over = retired.finally(() => {
    isOver = true;
  });
  await Promise.race([over, clock.untilTimers()]);
  await clock.advance(3_500);
  await eventually('the end of the command', async () => {
    await clock.advance(20);
    return isOver;
  });
  return over;
}

describe('while a data key is retired', () => {
  it('a statement that began before is waited for, and what it stored is counted', async () => {
    await register(next);
    let retired: Promise<{ code: number; err: string }> | undefined;
    // As a process that hangs in the middle of its work, and goes on.
    await inTransaction(database, async (session) => {
      const { rows } = await session.query('SELECT id, seal_id, envelope FROM batches');
      const [{ id, seal_id, envelope }] = rows;
      const sealed = resealEnvelope(late, seal_id, envelope);
      await session.query('UPDATE batches SET envelope = $2 WHERE id = $1', [id, sealed]);
      retired = run('vault', 'retire', '1');
      await eventually('the refusal of the key', async () => (await refused()).length > 0);
      // The commit comes while the command waits. A command that does not wait ends before it.
      await Promise.race([retired, clock.untilTimers()]);
    });
    const { code, err } = await afterStatements(retired as NonNullable<typeof retired>);
    assert.equal(code, 1);
    assert.match(err, /1 row needs data key 1 \(envelopes: 1\)/);
  });

  it('a service that begins to seal with the key is seen', async () => {
    await register(next);
    const retired = run('vault', 'retire', '1');
    await eventually('the refusal of the key', async () => (await refused()).length > 0);
    await confirmSecrets(database, OLD, witnesses, machineClock);
    assert.match((await afterStatements(retired)).err, /a running service still seals with data key 1/);
    assert.deepEqual(await refused(), []);
    await register(old);
  });

  it('is refused while a reseal to the key is under way', async () => {
    await database.query(`INSERT INTO reseals (key_id, kind, step_from, next_at, started_at)
      VALUES (1, 'envelopes', '', now(), now())`);
    assert.match((await run('vault', 'retire', '1')).err, /a reseal with data key 1 is under way/);
  });
});

describe('with a data key that may seal no more', () => {
  it('no envelope is trimmed or sealed again, and no endpoint is written', async () => {
    await register(next);
    await setEndpoint(next, partnerId, { url: 'https://partner.example/', host: '' });
    await database.query('UPDATE batches SET surplus = true');
    await refuseDataKey(database, 1, true);
    await trimSurplus(database, late, machineClock);
    await database.query(`INSERT INTO reseals (key_id, kind, step_from, next_at, started_at)
      VALUES (1, '${kinds[0]?.name}', '', now() - interval '1 second', now())`);
    for (let steps = 0; (await readReseal(database))?.finishedAt === null; steps += 1) {
      assert.ok(steps < 100);
      await resealTurn({ database, vault: late, clock: machineClock, kinds });
      await database.query("UPDATE reseals SET next_at = now() - interval '1 second'");
    }
    const url = { url: new URL('https://partner.example/'), newSecret: 'whsec_x' };
    const told = /data key 1 is retired: put another key first in DATA_KEYS/;
    await assert.rejects(writeEndpoint(database, late, partnerId, url), told);
    await assert.rejects(rotateSecret(database, late, partnerId, 'whsec_y'), told);
    assert.deepEqual(await keysOf(), [2]);
  });

  it('no contract begins, and no operator gets a secret of codes', async () => {
    const link = digestOf('a link');
    await inTransaction(database, (session) =>
      insertOperator(session, late, { login: 'newcomer', role: 'viewer', linkDigest: link }),
    );
    const id = await register(next);
    await refuseDataKey(database, 1, true);
    const [totp, shownKey] = [Buffer.alloc(20), 'contract-1'];
    const enrolled = (set: (session: Transaction, account: Account) => Promise<Account>) =>
      inTransaction(database, async (session) => {
        const account = await lockAccountByLink(session, late, link);
        return set(session, account as Account);
      });
    const told = /data key 1 is retired: put another key first in DATA_KEYS/;
    await assert.rejects(
      enrolled((session, account) => setFactors(session, late, account, { password: 'x', totp })),
      told,
    );
    await assert.rejects(
      enrolled((session, account) => setTotp(session, late, account, totp)),
      told,
    );
    const { sealed } = newSecret(late, shownKey);
    const made = { terms: {} as never, shownKey, sealed, expiresAt: new Date('2030-01-01') };
    await assert.rejects(beginContract(database, id as never, made), /the data key of a contract is retired/);
    const { rows } = await database.query(
      'SELECT (SELECT count(*) FROM operators WHERE totp IS NOT NULL) + (SELECT count(*) FROM loan_contracts) AS n',
    );
    assert.equal(Number(rows[0].n), 0);
  });
});

describe('a vault retire that was killed', () => {
  it('hinders no service that seals with the key, as after a way back', async () => {
    await refuseDataKey(database, 1, true);
    await assert.rejects(register(old), /seals with data key 1, which is retired/);
    await confirmSecrets(database, OLD, witnesses, machineClock);
    await register(old);
  });
});
