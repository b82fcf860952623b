/**
 * A process may die at any statement while it pays out a signed contract (D46): then the payment is not there, or it is
 * there whole, and whoever pays again pays nothing twice.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { localDate } from '../../src/domain/loan/local-day.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { commandLine } from '../cli/harness.ts';
import { ANA } from '../documents/support.ts';
import { testDatabase } from '../support/database.ts';
import { type Death, Dying } from '../support/dying.ts';
import { testSigning } from '../support/signing.ts';
import { TERMS } from '../support/terms.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { json, begin, sign, folder, context } = await testSigning(store);
const SETTINGS = { DATA_DIR: folder, TERMS_FILE: join(folder, 'terms.json') };
const PROOF = join(folder, 'transfers.pdf');
const today = localDate(new Date(), TERMS.countries.CO.zone);
writeFileSync(
  PROOF,
  statementPdf({ layout: 'rodar-co-1', ...ANA, issued: today, months: { [today.slice(0, 7)]: 1 } }),
);

async function signed(): Promise<ApplicationId> {
  const id = await begin();
  await sign(id);
  await database.query(
    "UPDATE application_states SET withdrawable_until = now() - interval '1 day' WHERE application_id = $1",
    [id],
  );
  return id;
}

/** Pays by the list of the contract; the process dies at a statement. */
async function pay(id: ApplicationId, lines: readonly string[], death: Death | null) {
  const dying = new Dying(death);
  const { run } = commandLine({ ...store, runtime: dying.over(runtime) }, SETTINGS);
  dying.arm();
  const options = lines.flatMap((line) => ['--line', line]);
  const ended = await run(
    'application',
    'disburse',
    `${id}`,
    '--reason',
    'paid',
    ...options,
    '--proof',
    PROOF,
  );
  return { code: ended.code, err: ended.err, effective: dying.effective };
}

async function linesFor(id: ApplicationId): Promise<string[]> {
  const plan: { payee: string; amount: string }[] = await json('disbursement', 'plan', `${id}`);
  return plan.map(
    ({ payee, amount }, index) => `payee=${payee};amount=${amount};reference=TR-${index};value-date=${today}`,
  );
}

/** What stays of payments in the tables, all of it or nothing. */
async function tracesOf(id: ApplicationId) {
  const { rows } = await database.query(
    `SELECT (SELECT status FROM application_states WHERE application_id = $1) AS status,
       (SELECT count(*)::integer FROM disbursements WHERE application_id = $1) AS lines,
       (SELECT count(*)::integer FROM contract_evidence WHERE application_id = $1
        AND kind IN ('disbursed', 'disbursement_line')) AS evidence,
       (SELECT count(*)::integer FROM application_events WHERE application_id = $1) AS history,
       (SELECT count(*)::integer FROM partner_events WHERE application_id = $1) AS events,
       (SELECT disbursed_on IS NOT NULL FROM loan_contracts WHERE application_id = $1 AND state = 'signed') AS counts`,
    [id],
  );
  return rows[0];
}

it('D46: a death at any statement of a payment leaves all of it or nothing, and the next try pays once', async () => {
  let id = await signed();
  let lines = await linesFor(id);
  const before = await tracesOf(id);
  const { effective } = await pay(id, lines, null);
  const whole = await tracesOf(id);
  assert.notDeepEqual(whole, before);
  assert.equal(whole.lines, lines.length);
  id = await signed();
  lines = await linesFor(id);
  let [unpaid, paid] = [0, 0];
  for (const [index, isEffective] of effective.entries()) {
    for (const isAfter of isEffective ? [false, true] : [false]) {
      const died = await pay(id, lines, { at: index + 1, isAfter });
      assert.notEqual(died.code, 0, `at ${index + 1}`);
      const seen = await tracesOf(id);
      if (seen.lines === 0) {
        assert.deepEqual(seen, before, `half at ${index + 1}`);
        unpaid += 1;
        continue;
      }
      assert.deepEqual(seen, whole, `half at ${index + 1}`);
      paid += 1;
      assert.notEqual((await pay(id, lines, null)).code, 0, 'nothing is paid twice');
      assert.deepEqual(await tracesOf(id), whole);
      const proven = (await verifyContract(context, id))?.checks.filter(({ fault }) => fault === null);
      const names = proven?.map(({ name }) => name);
      assert.ok(names?.includes('payment') && names.includes('evidence'), names?.join());
      id = await signed();
      lines = await linesFor(id);
    }
  }
  assert.ok(unpaid > 0 && paid > 0, `${unpaid} unpaid, ${paid} paid`);
  const last = await pay(id, lines, null);
  assert.equal(last.code, 0, last.err);
  assert.deepEqual(await tracesOf(id), whole);
});
