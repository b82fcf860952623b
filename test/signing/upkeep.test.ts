/** What becomes of contracts: the final PDF, their term, an erasure, another data key, a crash in the middle (D46). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { sealedRows } from '../../src/seal/sealed-rows.ts';
import { Vault } from '../../src/seal/vault.ts';
import { forgetContracts } from '../../src/subjects/signing/sql/dropped.ts';
import { hasEvidence } from '../../src/subjects/signing/sql/evidence.ts';
import { LOAN_CONTRACTS } from '../../src/subjects/signing/sql/tables.ts';
import { finishContract } from '../../src/subjects/signing/uses/finish-contract.ts';
import { makeContract } from '../../src/subjects/signing/uses/make-contract.ts';
import { sendCode } from '../../src/subjects/signing/uses/send-code.ts';
import { recordEvidence } from '../../src/subjects/signing/uses/sign-contract.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { shifted } from '../support/shifted.ts';
import { splitIdentity, testSigning } from '../support/signing.ts';
import { testUpkeep } from '../support/upkeep.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const signing = await testSigning(store);
const { context, codes, folder, begin, make, answer, sign, lastFourOf, json, run } = signing;
splitIdentity(folder);
const variables = {
  DATA_DIR: folder,
  SIGNING_CERTIFICATE_FILE: join(folder, 'cert.pem'),
  SIGNING_KEY_FILE: join(folder, 'key.pem'),
};
const files = () =>
  readdirSync(join(folder, 'documents'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(folder, 'documents', path)).isFile(),
  );
const { turn } = await testUpkeep(store, variables);
const upkeep = async () => assert.deepEqual(await turn(), []);

const contractsOf = async (id: ApplicationId) =>
  (await database.query('SELECT * FROM loan_contracts WHERE application_id = $1 ORDER BY id', [id])).rows;
const statesOf = async (id: ApplicationId) => (await contractsOf(id)).map(({ state }) => state);
const countOf = async (table: string, id: ApplicationId) =>
  Number(
    (await database.query(`SELECT count(*) FROM ${table} WHERE application_id = $1`, [id])).rows[0].count,
  );
const isVerified = async (id: ApplicationId, of = vault) =>
  (await verifyContract({ ...context, vault: of }, id))?.checks.every(({ fault }) => fault === null);
const age = (id: ApplicationId, days: number) =>
  database.query(
    `UPDATE loan_contracts SET made_at = ${shifted('made_at', "$2 * interval '-1 day'")},
      signed_at = ${shifted('signed_at', "$2 * interval '-1 day'")}
    WHERE application_id = $1`,
    [id, days],
  );
/** Makes so many days pass for the elapsed time. */
const elapse = (days: number) => database.query('UPDATE elapsed SET ms = ms + $1::bigint * 86400000', [days]);

describe('the upkeep', () => {
  it('D46: makes the final PDF of each signed contract, once', async () => {
    const [one, other] = [await begin(), await begin()];
    await sign(one);
    await sign(other);
    await upkeep();
    const before = await contractsOf(one);
    assert.equal(await isVerified(one), true);
    assert.equal(await isVerified(other), true);
    await upkeep();
    assert.deepEqual(await contractsOf(one), before);
  });

  it('D46: a making that is cut off between any two steps is done again, and leaves nothing behind', async () => {
    const id = await begin();
    const failing = (step: 'put' | 'get') => ({
      ...context,
      store: {
        ...context.store,
        put: (key: string, bytes: Buffer) =>
          step === 'put' ? Promise.reject(new Error('cut off')) : context.store.put(key, bytes),
        get: (key: string) =>
          step === 'get' ? Promise.reject(new Error('cut off')) : context.store.get(key),
        delete: (key: string) => context.store.delete(key),
      },
    });
    await assert.rejects(makeContract(failing('put'), id), /cut off/);
    assert.deepEqual(await statesOf(id), ['making']);
    const cut = {
      ...context,
      sealer: context.sealer && { ...context.sealer, seal: () => Promise.reject(new Error('cut off')) },
    };
    await assert.rejects(makeContract(cut, id), /cut off/);
    // Stored, and not opened.
    const stored = { ...context, database: brokenAfter("loan_contracts SET state = 'open'") };
    await assert.rejects(makeContract(stored, id), /connection lost/);
    await sign(id);
    await assert.rejects(finishContract(failing('get'), id), /cut off/);
    assert.equal(await finishContract(context, id), null, 'the other process may still be at work');
    await database.query(
      "UPDATE loan_contracts SET finishing_at = now() - interval '2 minutes', made_at = now() - interval '2 hours' WHERE application_id = $1 AND state IN ('making', 'signed')",
      [id],
    );
    await assert.rejects(finishContract(failing('put'), id), /cut off/);
    await database.query(
      "UPDATE loan_contracts SET finishing_at = now() - interval '2 minutes' WHERE application_id = $1 AND state = 'signed'",
      [id],
    );
    await upkeep();
    assert.equal((await statesOf(id))[0], 'making', 'D39: the clock alone may have stepped');
    await elapse(1);
    await upkeep();
    await upkeep();
    assert.deepEqual(await statesOf(id), ['signed']);
    assert.equal(await isVerified(id), true);
    const known = (await database.query('SELECT shown_key, signed_key FROM loan_contracts')).rows.flatMap(
      ({ shown_key, signed_key }) => [shown_key, signed_key],
    );
    assert.deepEqual(
      files().filter((path) => path.startsWith('contract') && !known.includes(path)),
      [],
    );
  });

  it('D46: a code that was not sent because the process died is replaced by the next one', async () => {
    const id = await begin();
    await make(id);
    await answer(id, 'last_four', await lastFourOf(id));
    const dying = {
      ...context,
      sender: { way: 'sms' as const, send: () => Promise.reject(new Error('dies')) },
    };
    await assert.rejects(sendCode(dying, id), /dies/);
    assert.equal((await sendCode(context, id)).kind, 'sent');
    assert.equal(await answer(id, 'code', codes.last), 'right');
  });

  it('D45: an application without a contract is counted while it waits for a signature', async () => {
    const [one, other] = [await begin(), await begin()];
    for (const id of [one, other]) await makeContract({ ...context, terms: null }, id);
    await json('application', 'reject', `${one}`, '--reason', 'x');
    await upkeep();
    assert.deepEqual([await statesOf(one), await statesOf(other)], [[], ['blocked']]);
  });

  it('an expired contract is marked, and codes go after a day', async () => {
    const id = await begin();
    await make(id);
    await sendCode(context, id);
    await database.query(
      "UPDATE loan_contracts SET expires_at = now() - interval '1 second' WHERE application_id = $1",
      [id],
    );
    await database.query(
      "UPDATE signing_codes SET began_at = now() - interval '25 hours' WHERE application_id = $1",
      [id],
    );
    await upkeep();
    assert.deepEqual(await statesOf(id), ['expired']);
    assert.equal(await countOf('signing_codes', id), 0);
  });
});

describe('the term', () => {
  it('D46: signed contracts stay for years, by the clock and by the elapsed time; others for 120 days', async () => {
    const [signed, unsigned, bare] = [await begin(), await begin(), await begin()];
    await sign(signed);
    await make(unsigned);
    await inTransaction(runtime, (session) =>
      recordEvidence(session, vault, [
        { applicationId: bare, entries: [{ kind: 'declined', at: null, facts: {} }] },
      ]),
    );
    await upkeep();
    for (const id of [signed, unsigned, bare]) await age(id, 121);
    // The clock alone deletes nothing.
    await forgetContracts(runtime, 5);
    assert.equal(await countOf('contract_evidence', unsigned), 1);
    await elapse(121);
    await forgetContracts(runtime, 5);
    assert.deepEqual(
      [await countOf('contract_evidence', unsigned), await countOf('contract_evidence', bare)],
      [0, 0],
    );
    assert.deepEqual(await statesOf(signed), ['signed']);
    await upkeep();
    assert.deepEqual([await statesOf(unsigned), await statesOf(bare)], [[], []]);
    await age(signed, 5 * 366);
    await elapse(4 * 366);
    // No caller can shorten the term below five years.
    await forgetContracts(runtime, 0);
    assert.deepEqual(await statesOf(signed), ['signed']);
    await elapse(2 * 366);
    await forgetContracts(runtime, 0);
    await upkeep();
    assert.deepEqual(await contractsOf(signed), []);
    assert.equal(await countOf('contract_evidence', signed), 0);
  });
});

describe('an erasure', () => {
  const erase = async (id: ApplicationId) => {
    const { phone } = await json('application', 'show', `${id}`, '--reveal', '--reason', 'x');
    return json('subject', 'erase', '--phone', phone, '--reason', 'ticket', '--close', '--yes');
  };

  it('D46: takes codes, evidence and contracts without a signature away; their PDFs cannot be read from then on', async () => {
    const id = await begin();
    await make(id);
    await sendCode(context, id);
    const [{ shown_key: key }] = await contractsOf(id);
    const erased = await erase(id);
    assert.deepEqual(erased.kept_contracts, []);
    const [row] = await contractsOf(id);
    assert.deepEqual([row.state, row.sealed, row.terms], ['dropped', null, null]);
    assert.deepEqual([await countOf('signing_codes', id), await countOf('contract_evidence', id)], [0, 0]);
    await upkeep();
    assert.deepEqual(await contractsOf(id), []);
    assert.equal(await context.store.get(key), undefined);
  });

  it('D46: leaves a signed contract for the legal term, and says so before and after', async () => {
    const id = await begin();
    await sign(id);
    await finishContract(context, id);
    const { phone } = await json('application', 'show', `${id}`, '--reveal', '--reason', 'x');
    const planned = await run('subject', 'erase', '--phone', phone, '--reason', 'ticket');
    assert.match(
      planned.out,
      new RegExp(`signed contracts of applications ${id} stay, sealed, for the legal term`),
    );
    const erased = await erase(id);
    assert.deepEqual(erased.kept_contracts, [id]);
    assert.equal(await isVerified(id), true);
    assert.equal((await json('contract', 'show', `${id}`)).state, 'signed');
  });

  it('the export has contracts, codes and evidence', async () => {
    const id = await begin();
    await sign(id);
    const { phone } = await json('application', 'show', `${id}`, '--reveal', '--reason', 'x');
    const exported = JSON.parse(
      (await run('subject', 'export', '--phone', phone, '--reveal', '--reason', 'ticket')).out,
    );
    const [one] = exported.applications;
    assert.deepEqual([one.contracts.length, one.codes.length, one.evidence.at(-1).kind], [1, 1, 'signed']);
  });
});

describe('the data keys', () => {
  const newer = createHash('sha256').update('newer').digest();
  const both = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[9, newer], ...TEST_SECRETS.dataKeys]) });

  it('a reseal gives every contract the new key, and the PDFs stay as they are', async () => {
    const id = await begin();
    await sign(id);
    await finishContract(context, id);
    const secrets = sealedRows(LOAN_CONTRACTS);
    const { needing } = await secrets.rowsOf(runtime, vault, 1);
    assert.ok(needing > 0);
    const before = files();
    for (let from: string | null = ''; from !== null; )
      from = (await secrets.reseal(runtime, both, from)).next;
    assert.deepEqual(await secrets.rowsOf(runtime, both, 1), { needing: 0, damaged: 0 });
    assert.deepEqual(files(), before);
    const onlyNewer = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[9, newer]]) });
    const verified = await verifyContract({ ...context, vault: both }, id);
    assert.ok(verified?.checks.every(({ fault }) => fault === null));
    const [row] = await contractsOf(id);
    assert.equal(row.sealed[0], 9);
    assert.equal(onlyNewer.open(row.sealed, `contract:${row.shown_key}`).length, 32);
  });

  it('the chains of evidence depend on the index key', async () => {
    assert.equal(await hasEvidence(runtime), true);
    const id = await begin();
    await make(id);
    const other = new Vault({ ...TEST_SECRETS, indexKey: newer });
    assert.equal(await isVerified(id, other), false);
    const added = new Vault({ ...TEST_SECRETS, newerIndexKeys: [newer] });
    await inTransaction(runtime, (session) =>
      recordEvidence(session, added, [
        { applicationId: id, entries: [{ kind: 'declined', at: null, facts: {} }] },
      ]),
    );
    assert.equal(await isVerified(id, added), true);
  });
});

/** Sessions that lose their connection at a statement with this text. */
function brokenAfter(text: string): typeof runtime {
  const connect = async (callback?: never) => {
    // The pool's own statements.
    if (callback !== undefined) return runtime.connect(callback);
    const client = await runtime.connect();
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    return Object.assign(Object.create(client), {
      query: (...args: unknown[]) =>
        `${args[0]}`.includes(text) ? Promise.reject(new Error('connection lost')) : query(...args),
      release: (end?: boolean) => client.release(end),
    });
  };
  return Object.assign(Object.create(runtime), { connect }) as typeof runtime;
}
