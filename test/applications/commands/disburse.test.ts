/** What a payment waits for where the application has a conversation (D46), on the command line and in the store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { inTransaction } from '../../../src/ground/postgres/database.ts';
import {
  lockState,
  markConversations,
  writeSignature,
} from '../../../src/subjects/applications/sql/application-marks.ts';
import { commandLine } from '../../cli/harness.ts';
import { APPROVED, applicant } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const store = await testDatabase();
const { runtime } = store;
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let phone = 3_410_000_000;
async function approved(): Promise<number> {
  const [id] = await register(key, [applicant({ ...APPROVED, phone: toPhone(`+57${++phone}`) })]);
  return id as number;
}
async function withConversation(): Promise<number> {
  const id = await approved();
  assert.deepEqual(await markConversations(runtime, [toApplicationId(id)]), [id]);
  return id;
}
/** A signature; `days`: until when the applicant may withdraw, from now on; null: no such period. */
async function sign(id: number, days: number | null): Promise<boolean> {
  return inTransaction(runtime, async (session) => {
    const state = await lockState(session, toApplicationId(id));
    if (state === null) throw new Error('no conversation');
    const until = days === null ? null : new Date(state.now.getTime() + days * 86_400_000);
    return writeSignature(session, toApplicationId(id), state.now, until);
  });
}
const disburse = (id: number, ...more: string[]) =>
  run('application', 'disburse', `${id}`, '--reason', 'paid', ...more);
const statusOf = async (id: number) => (await json('application', 'show', `${id}`)).status;

test('D34: an application without a conversation is disbursed as it is', async () => {
  const id = await approved();
  assert.equal((await disburse(id)).code, 0);
});

test('D46: with a conversation nothing is paid out before the signature; the refusal says what to do', async () => {
  const id = await withConversation();
  const refused = await disburse(id);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /contract is not signed: wait for the signature, or add --override and --second/);
  assert.equal(await statusOf(id), 'pending_signature');
});

test('D46: a signed application is paid out once its withdrawal period is over, at once where there is none', async () => {
  for (const [days, code] of [
    [null, 0],
    [-1, 0],
    [1, 1],
  ] as const) {
    const id = await withConversation();
    assert.equal(await sign(id, days), true);
    const done = await disburse(id);
    assert.equal(done.code, code, `${days}: ${done.err}`);
    if (code === 1)
      assert.match(done.err, /may withdraw until 20\d\d-.*: wait until then, or add --override/);
  }
});

test('D46: an override names two operators, in the history and in the record of acts', async () => {
  const id = await withConversation();
  const both = ['--override', '--second', 'Luis', '--as', 'ana'];
  assert.equal((await disburse(id, ...both)).code, 0);
  const last = (await json('application', 'show', `${id}`)).history.at(-1);
  assert.deepEqual([last.actor, last.second, last.to], ['ana', 'Luis', 'disbursed']);
  const [act] = await json('audit', 'list', '--application', `${id}`);
  assert.deepEqual(
    [act.by, act.act, act.target, act.reason],
    ['ana', 'application disburse --override', 'second operator Luis', 'paid'],
  );
});

test('D46: nobody is their own second operator, and the two options go together', async () => {
  const id = await withConversation();
  for (const second of ['ana', ' ANA ']) {
    const refused = await disburse(id, '--override', '--second', second, '--as', 'ana');
    assert.match(refused.err, /second operator must be another one than ana/);
  }
  assert.equal((await disburse(id, '--override')).code, 2);
  assert.equal((await disburse(id, '--second', 'luis')).code, 2);
  const rejected = await run('application', 'reject', `${id}`, '--reason', 'x', '--override');
  assert.equal(rejected.code, 2);
  assert.equal(await statusOf(id), 'pending_signature');
});

test('D46: the rule holds for each application of a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disburse-'));
  after(() => rmSync(folder, { recursive: true }));
  const [plain, held, signed] = [await approved(), await withConversation(), await withConversation()];
  await sign(signed, null);
  writeFileSync(join(folder, 'ids'), [plain, held, signed].join('\n'));
  const done = await run('application', 'disburse', '--file', join(folder, 'ids'), '--reason', 'paid');
  assert.equal(done.code, 1);
  assert.match(done.out, new RegExp(`Application ${held} was not changed: .*not signed`));
  assert.deepEqual(await Promise.all([plain, held, signed].map(statusOf)), [
    'disbursed',
    'pending_signature',
    'disbursed',
  ]);
});

test('D43: no conversation begins for a final application, and a second beginning changes nothing', async () => {
  const id = await approved();
  await run('application', 'reject', `${id}`, '--reason', 'x');
  assert.deepEqual(await markConversations(runtime, [toApplicationId(id)]), []);
  const open = await withConversation();
  const read = 'SELECT conversation_at FROM application_states WHERE application_id = $1';
  const before = (await runtime.query(read, [open])).rows;
  assert.deepEqual(await markConversations(runtime, [toApplicationId(open)]), [open]);
  assert.deepEqual((await runtime.query(read, [open])).rows, before);
});

test('D46: of a signature and a rejection at once, in both orders, one alone holds', async () => {
  const first = await withConversation();
  let rejecting: ReturnType<typeof run> | undefined;
  await inTransaction(runtime, async (session) => {
    await lockState(session, toApplicationId(first));
    rejecting = run('application', 'reject', `${first}`, '--reason', 'x');
    await writeSignature(session, toApplicationId(first), new Date(), null);
  });
  assert.equal((await rejecting)?.code, 0);
  assert.equal(await statusOf(first), 'rejected');
  const second = await withConversation();
  await run('application', 'reject', `${second}`, '--reason', 'x');
  assert.equal(await sign(second, null), false);
});
