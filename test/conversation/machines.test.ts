/**
 * From the tap to the signature with real contracts, proofs and evidence (D43, D46). On a cluster the sessions of each
 * step are on another machine.
 */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { conversationOf } from '../../src/subjects/conversation/sql/conversations.ts';
import { performerOf, signingOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { addEvidence, readEvidence } from '../../src/subjects/signing/sql/evidence.ts';
import { finishContract } from '../../src/subjects/signing/uses/finish-contract.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import { APPROVED } from '../support/applicant.ts';
import { machinesOf } from '../support/citus-database.ts';
import { conversationsOf, goodPerformer } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { as, RUNTIME_ROLE, runtimePassword } from '../support/runtime-role.ts';
import { testSigning } from '../support/signing.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { vault } = store;
const { context, codes, lastFourOf, json, key } = await testSigning(store);
const simulator = new Simulator(async () => {}, machineClock);
after(() => simulator.close());

const NO_FILES = { documents: undefined as never, income: undefined as never };
const urls = await machinesOf(store.ownerUrl);
const databases = (urls.length > 0 ? urls : [store.ownerUrl]).map((url) =>
  openPatiently(as(url, RUNTIME_ROLE, runtimePassword(url)), 6),
);
after(() => Promise.all(databases.map((database) => database.end())));
const machines = await Promise.all(
  databases.map((database) => {
    const real = performerOf({ ...NO_FILES, signing: { ...context, database }, channel: simulator });
    const { offer, makeContract, sendCode } = real;
    return conversationsOf({ ...store, database, runtime: database }, key, {
      performer: goodPerformer({ offer, makeContract, sendCode }),
      signing: signingOf(vault),
    });
  }),
);
let step = 0;
/** The applicant, whose next step comes to the next machine. */
const next = ({ id, phone }: { id: number; phone: Parameters<(typeof machines)[0]['person']>[1] }) =>
  machines[step++ % machines.length]!.person(id, phone);
const faults = () => machines.flatMap((machine) => machine.faults);

it('D43, D46: a tap, statements, an offer, a contract, both proofs: signed, with evidence that verifies', async () => {
  const ana = await machines[0]!.applicantAt(APPROVED);
  await next(ana).tap();
  await next(ana).choose(0);
  await next(ana).sendFile();
  await next(ana).choose(0);
  await next(ana).write('Banco Azul 5.700.000');
  await next(ana).choose(0);
  assert.equal(await ana.place(), 'summary service', String(faults()));
  await next(ana).choose(0);
  assert.equal(await ana.place(), 'contract service', String(faults()));
  await next(ana).choose(0);
  await next(ana).write(await lastFourOf(ana.id as ApplicationId));
  assert.equal(await ana.place(), 'code service', String(faults()));
  await next(ana).write(codes.last);
  assert.equal(await ana.place(), 'signed service', String(faults()));
  await finishContract(context, ana.id as ApplicationId);
  const verified = await verifyContract(context, ana.id as ApplicationId);
  assert.deepEqual(
    verified?.checks.filter(({ fault }) => fault !== null),
    [],
  );
  const { rows: evidence } = await readEvidence(databases[0]!, context.vault, ana.id as ApplicationId);
  const proofs = ['offer_accepted', 'contract_accepted', 'id_checked', 'code_sent', 'code_checked', 'signed'];
  for (const kind of proofs) {
    const facts = JSON.parse(evidence.find((one) => one.kind === kind)?.facts ?? '{}');
    assert.match(String(facts.message_index), /^[0-9a-f]{16}$/, `${kind} names the channel's message`);
  }
  await next(ana).write('quiero retirarme');
  assert.equal(await ana.place(), 'withdrawn service', String(faults()));
});

it('D43: the newest conversation of an application is the one that began last', async () => {
  const eva = await machines.at(-1)!.applicantAt(APPROVED);
  await machines.at(-1)!.person(eva.id, eva.phone).tap();
  await json('conversation', 'hand-over', `${eva.id}`);
  await json('conversation', 'close', `${eva.id}`);
  await machines.at(-1)!.settle();
  for (const database of databases) {
    await json('conversation', 'start', `${eva.id}`);
    assert.equal((await conversationOf(database, eva.id as ApplicationId))?.endedAt, null);
    await json('conversation', 'hand-over', `${eva.id}`);
    await json('conversation', 'close', `${eva.id}`);
    await machines.at(-1)!.settle();
  }
});

it('D46: of two sessions that add evidence of one application, the second one waits and goes on from the first', async () => {
  const { id } = await machines[0]!.applicantAt(APPROVED);
  const applicationId = id as ApplicationId;
  const entry = { kind: 'data_consent_given', at: null, facts: { turn: 1 } } as const;
  const add = (database: (typeof databases)[0], hold: () => Promise<unknown>) =>
    inTransaction(database, async (session) => {
      await addEvidence(session, vault, [{ applicationId, entries: [entry] }]);
      await hold();
    });
  let second: Promise<unknown> = Promise.resolve();
  await add(databases[0]!, async () => {
    second = add(databases.at(-1)!, async () => {});
    second.catch(() => {});
    await eventually('a waiting session', async () => (await waitingSessions(store.database)).length > 0);
  });
  await second;
  const { rows } = await store.database.query(
    'SELECT number FROM contract_evidence WHERE application_id = $1 ORDER BY number',
    [id],
  );
  assert.deepEqual(rows, [{ number: 1 }, { number: 2 }]);
});
