/** RETENTION_POLICY: how long applications of each final status are kept; `retention plan` and `retention run`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { readConfig } from '../../src/app/config/config.ts';
import { readRetention } from '../../src/domain/application/retention.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants } from '../support/erased.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition, growOlder, lookedAtBefore } from '../support/old-partitions.ts';
import { setStatus } from '../support/stored-applications.ts';

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-retention-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'policy.json');
const write = (text: string) => writeFileSync(file, text);
const POLICY = '{"rejected": {"days": 30}, "disbursed": {"days": 100}}';
write(POLICY);

const store = await testDatabase();
const { database } = store;
const { json, run } = commandLine(store, { RETENTION_POLICY: file });
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const ids = async (): Promise<number[]> =>
  (await database.query('SELECT id::float8 FROM applications ORDER BY id')).rows.map(({ id }) => id);

it('deletes each final status at its own age, keeps the open ones, and plan says before what goes', async () => {
  const phone = (n: number) => toPhone(`+57300333000${n}`);
  const [rejected, disbursed, open, inReview] = (await register(key, [
    applicant({ phone: phone(1), ...REJECTED }),
    applicant({ phone: phone(2) }),
    applicant({ phone: phone(3) }),
    applicant({ phone: phone(4), ...IN_REVIEW }),
  ])) as [number, number, number, number];
  await setStatus(database, [disbursed], 'disbursed');
  await closePartition(database);
  assert.deepEqual(await json('retention', 'plan'), []);
  await growOlder(database, 31);
  const [planned, ...others] = await json('retention', 'plan');
  assert.match(planned.month, /^\d{4}-\d\d$/);
  assert.deepEqual([planned.status, planned.applications, others], ['rejected', 1, []]);
  assert.deepEqual(await ids(), [rejected, disbursed, open, inReview], 'a plan changes nothing');
  assert.deepEqual(await json('retention', 'run'), { deleted: 1 });
  assert.deepEqual(await ids(), [disbursed, open, inReview]);
  assert.equal((await json('application', 'show', `${disbursed}`)).status, 'disbursed');
  assert.deepEqual((await json('application', 'list', '--phone', phone(2))).length, 1);

  await growOlder(database, 70);
  await lookedAtBefore(database, 70);
  assert.deepEqual(
    (await json('retention', 'plan')).map((one: Record<string, unknown>) => [one.status, one.applications]),
    [['disbursed', 1]],
  );
  assert.deepEqual(await json('retention', 'run'), { deleted: 1 });
  assert.deepEqual(await ids(), [open, inReview]);
  const [act] = await json('audit', 'list');
  assert.equal(act.act, 'retention run');
  await assertInvariants(store);
});

it('without a retention both commands say what to set', async () => {
  for (const command of ['plan', 'run']) {
    const { code, err } = await commandLine(store).run('retention', command);
    assert.deepEqual([code, /set RETENTION_POLICY or RETENTION_DAYS/.test(err)], [1, true]);
  }
  assert.equal((await run('retention', 'plan')).code, 0);
});

it('a policy that would delete open applications is refused, and so is one of another form', () => {
  for (const [policy, rule] of [
    [{ in_review: { days: 10 } }, /must not name in_review: an open application is never deleted/],
    [{ rejected: { days: 1 }, pending_signature: { days: 10 } }, /must not name pending_signature/],
    [{ approved: { days: 10 } }, /unknown status "approved"/],
    [{ rejected: { days: 0 } }, /rejected as \{"days": N\}/],
    [{ rejected: { days: '10' } }, /whole number/],
    [{ disbursed: { days: 10, months: 1 } }, /disbursed as/],
    [{ rejected: 10 }, /rejected as/],
    [{}, /must name rejected or disbursed/],
    [[], /must hold an object/],
    [null, /must hold an object/],
  ] as const) {
    assert.throws(() => readRetention(policy), rule, JSON.stringify(policy));
  }
});

it('a start is refused where the file cannot be read, is no JSON, or RETENTION_DAYS is set beside it', () => {
  const start = (variables: Record<string, string>) => readConfig(variables);
  assert.throws(
    () => start({ RETENTION_POLICY: join(folder, 'none') }),
    /RETENTION_POLICY must name a JSON file .*ENOENT/,
  );
  write('{');
  assert.throws(() => start({ RETENTION_POLICY: file }), /RETENTION_POLICY must name a JSON file/);
  write('{"rejected": {"days": 1}, "rejected": {"days": 2}}');
  assert.throws(() => start({ RETENTION_POLICY: file }), /an object has the name "rejected" twice/);
  write('{"in_review": {"days": 1}}');
  assert.throws(() => start({ RETENTION_POLICY: file }), /RETENTION_POLICY must not name in_review/);
  write(POLICY);
  assert.throws(
    () => start({ RETENTION_POLICY: file, RETENTION_DAYS: '30' }),
    /RETENTION_POLICY does not go with RETENTION_DAYS/,
  );
  start({ RETENTION_POLICY: file, RETENTION_DAYS: 'none' });
});
