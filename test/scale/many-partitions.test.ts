/**
 * With hundreds of partitions, no statement locks more than a few of them: otherwise PostgreSQL plans for all of them
 * and its table of locks is full (head of `batches` in `migrations/0003_applications.sql`).
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import {
  type ApplicationId,
  batchAndPositionOf,
  messageIdsOf,
  toApplicationId,
  toMessageId,
} from '../../src/domain/application/ids.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { channelIndexOf, idNumberIndexOf, phoneIndexOf } from '../../src/seal/blind-indexes.ts';
import { checkSecrets, confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import {
  markConversations,
  noteWrongPerson,
  readWrongPersons,
} from '../../src/subjects/applications/sql/application-marks.ts';
import { batchesOfNoKey } from '../../src/subjects/applications/sql/damaged-envelopes.ts';
import { reasonsOfApplications } from '../../src/subjects/applications/sql/decided-reasons.ts';
import {
  holdApplication,
  readDecisionFacts,
} from '../../src/subjects/applications/sql/desk/decision-facts.ts';
import { findByIndexes } from '../../src/subjects/applications/sql/desk/find-by-indexes.ts';
import { applicationsDown, readListed } from '../../src/subjects/applications/sql/desk/listed.ts';
import { stillThere } from '../../src/subjects/applications/sql/erasure.ts';
import { newestOf } from '../../src/subjects/applications/sql/newest.ts';
import { MOST_PARTITIONS } from '../../src/subjects/applications/sql/partition-runs.ts';
import {
  fillLookUpBuckets,
  forgetPartitions,
  leavePartition,
  makePartitions,
} from '../../src/subjects/applications/sql/partitions.ts';
import { readPartnerApplications } from '../../src/subjects/applications/sql/partner-application.ts';
import { ownOfDay, ownOfIdNumber } from '../../src/subjects/applications/sql/partner-search.ts';
import { envelopesOf, resealEnvelopes } from '../../src/subjects/applications/sql/reseal-envelopes.ts';
import { readSpeakers } from '../../src/subjects/applications/sql/speakers.ts';
import { planRetention } from '../../src/subjects/applications/uses/retention.ts';
import {
  beginConversations,
  channelIndexesOf,
  readCandidates,
} from '../../src/subjects/conversation/sql/begin.ts';
import { applicationsOfContexts } from '../../src/subjects/conversation/sql/match.ts';
import { offeredWithoutConversation } from '../../src/subjects/conversation/sql/strangers.ts';
import { readBrandOf } from '../../src/subjects/desk/sql/brand-of.ts';
import { expandReviews, expandReviewsOf } from '../../src/subjects/desk/sql/expansion.ts';
import { readNeighbours } from '../../src/subjects/desk/uses/neighbours.ts';
import { lastEventOf, readForPage } from '../../src/subjects/desk/uses/show-application.ts';
import { batchesFrom } from '../../src/subjects/evaluation/sql/decided-batches.ts';
import { replay } from '../../src/subjects/evaluation/uses/replay.ts';
import { readShadows } from '../../src/subjects/evaluation/uses/shadows.ts';
import { readEventPage } from '../../src/subjects/events/sql/partner-events.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { applyEarly } from '../../src/subjects/messages/intake/status-events.ts';
import { lockMessages } from '../../src/subjects/messages/sql/changes/operator-changes.ts';
import {
  approvalMessages,
  cancelApprovals,
  cancelMessagesForWrongPerson,
  queueReminders,
} from '../../src/subjects/messages/sql/changes/turn-changes.ts';
import { phonesOfOldMessages } from '../../src/subjects/messages/sql/channel-users.ts';
import { defer, setAside } from '../../src/subjects/messages/sql/deferral.ts';
import { takeKnownEarly } from '../../src/subjects/messages/sql/early-events.ts';
import { pauseTemplate, resumeTemplate } from '../../src/subjects/messages/sql/pauses.ts';
import { queueReplies, sealReply } from '../../src/subjects/messages/sql/replies.ts';
import { suppressApplicants } from '../../src/subjects/messages/sql/suppressions.ts';
import { findLost, mendLeap } from '../../src/subjects/messages/sql/upkeep.ts';
import { makeWaitingDue, readWaitingForHours } from '../../src/subjects/messages/sql/waiting-hours.ts';
import { addPolicy, policyOf } from '../../src/subjects/policies/sql/policies.ts';
import { readAskedAbout } from '../../src/subjects/reconsiderations/sql/refused.ts';
import { listErasures } from '../../src/subjects/rights/uses/list-erasures.ts';
import { replayErasures } from '../../src/subjects/rights/uses/replay-erasures.ts';
import { erasureJson, readErasure } from '../../src/subjects/rights/uses/written-erasure.ts';
import { DEMO_TERMS } from '../../src/subjects/signing/rules/demo-terms.ts';
import { readForContract } from '../../src/subjects/signing/sql/application.ts';
import { signContract } from '../../src/subjects/signing/uses/sign-contract.ts';
import {
  readChatMessage,
  readChatMessages,
  readChatMessagesOf,
} from '../../src/subjects/simulator/chat-messages.ts';
import { readOwners } from '../../src/subjects/simulator/owners.ts';
import { countAbsentMessages } from '../../src/subjects/simulator/read-chats.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { goOnFrom, partitionEnds } from '../support/batch-numbers.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { countingLocks, type LockCounts } from '../support/lock-counter.ts';
import { addPartitions } from '../support/many-partitions.ts';
import { setMessages } from '../support/messages.ts';
import { allowSmallPartitions } from '../support/small-partitions.ts';
import { readSources } from '../support/sources.ts';
import { runJob, testUpkeep } from '../support/upkeep.ts';

const WITNESSES = await loadWitnesses();

/** Far more than a statement may lock. Two years are about a thousand, take longer to make, and show the same. */
const PARTITIONS = Number(process.env.MANY_PARTITIONS ?? 400);
/**
 * A lookup by the channel's id locks 17 partitions of messages with their indexes. An erasure locks most tables of all
 * subjects with their indexes, however many partitions there are: 355 locks with those of the record of acts.
 */
const MOST = 365;
/** Its statements read whole tables of a restored store. */
const ALONE = /^ground\/invariants\/check-store\.ts$/;
/** Messages in more partitions than one statement touches; with each come the indexes of batches and of records. */
const SPREAD = 40;
const MOST_OF_SPREAD = 20 * MOST_PARTITIONS;

const STRICT = {
  ...documentOf(DEFAULT_POLICY),
  version: 'strict-1',
  decision: { approved: 80, in_review: 40 },
};

const store = await testDatabase();
await allowSmallPartitions(store.database);
const counts: LockCounts = new Map();
const database = countingLocks(store.database, counts);
const { vault } = store;
const counted = { ...store, database, runtime: countingLocks(store.runtime, counts) };
const { json } = commandLine(counted);

/** The functions whose body names the partitioned tables, or another such function. */
async function functionsOnPartitions(): Promise<{ unplanned: string[]; all: string[]; ofIds: string[] }> {
  const { rows } = await store.database.query<{
    name: string;
    body: string;
    args: string;
    settings: string[] | null;
  }>(`
    SELECT p.proname AS name, p.prosrc AS body, p.proargtypes::text AS args, p.proconfig AS settings FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'plpgsql'`);
  const names = (text: string, functions: Iterable<string>) =>
    READS.test(text) || [...functions].some((name) => new RegExp(`\\b${name}\\(`).test(text));
  const all = new Set<string>();
  for (let size = -1; size < all.size; ) {
    size = all.size;
    for (const { name, body } of rows) if (names(body, all)) all.add(name);
  }
  return {
    ofIds: rows.filter(({ name, args }) => args === '1016' && all.has(name)).map(({ name }) => name),
    unplanned: rows
      .filter(({ settings }) => !settings?.includes('plan_cache_mode=force_custom_plan'))
      .filter(({ body }) => READS.test(withoutExecuted(body)))
      .map(({ name }) => name),
    all: [...all],
  };
}

/** The tables, and the views over them. */
const READS = /\b(?:FROM|JOIN|UPDATE|USING)\s+(batches|message_records|messages|applications)\b/;

function withoutExecuted(body: string): string {
  return body.replace(/EXECUTE\s+(\$sql\$[\s\S]*?\$sql\$|'(?:[^']|'')*')/g, '').replace(/--.*$/gm, '');
}

/** Returns open applications. */
async function everything(): Promise<readonly number[]> {
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(counted);
  await addPolicy(store.database, STRICT, { by: 'test', accepted: [] });
  await json('policy', 'shadow', 'start', STRICT.version);
  const phone = (n: number) => toPhone(`+57300555${String(n).padStart(4, '0')}`);
  const ids = await register(
    key,
    Array.from({ length: 12 }, (_, n) => applicant({ phone: phone(n), ...(n > 8 ? IN_REVIEW : {}) })),
  );
  // A list of more than twelve batches asks for the sizes of their envelopes.
  for (let n = 100; n < 114; n += 1) await register(key, [applicant({ phone: phone(n) })]);
  const [first, second, third, fourth, fifth] = ids as [number, number, number, number, number];
  const message = (id: number) => toMessageId(`${id}`);
  // Several turns, because PostgreSQL may keep the plan of a named statement or a function from the sixth use on.
  let sent = 0;
  for (let round = 0; round < 7; round += 1) {
    const send = async () => {
      sent += 1;
      return { kind: 'accepted', channelMessageId: `wamid.${sent}` } as const;
    };
    const limits = {
      messagesPerSecond: null,
      pairMs: 0,
      recipientsPerDay: 100_000,
      messagesPerPhone: 3,
      rejectionsPerPhone: 1,
    };
    const turn = await deliverDue(
      deliveryContext(counted, { send }, { limits }),
      new AbortController().signal,
    );
    await turn.concluded;
    await applyChannelEvents({ database, vault }, [
      {
        kind: 'status',
        channelMessageId: 'wamid.x',
        callback: null,
        status: 'delivered',
        at: new Date(),
        failure: null,
      },
      {
        kind: 'status',
        channelMessageId: 'wamid.y',
        callback: `${first}.1`,
        status: 'failed',
        at: new Date(),
        failure: { kind: 'give_up', reason: '1' },
      },
      {
        kind: 'tap',
        payload: interestPayload(toApplicationId(second)),
        title: null,
        contextMessageId: null,
        from: phone(1),
        at: new Date(),
      },
      // The channel leaves out the phone, and the answered message tells it.
      { kind: 'text', from: null, body: 'hola', contextMessageId: 'wamid.3', at: new Date() },
      { kind: 'text', from: null, body: 'BAJA', contextMessageId: 'wamid.4', at: new Date() },
    ]);
    await setMessages(store.database, [first], { status: 'queued', dueInMs: -1_000 });
    await setMessages(store.database, [third], { status: 'failed', attempts: 1 });
    await setMessages(store.database, [fourth], {
      status: 'queued',
      reason: 'contact_window',
      dueInMs: 3_600_000,
    });
    await setMessages(store.database, [fifth], {
      status: 'queued',
      reason: 'template_paused',
      dueInMs: 3_600_000,
    });
    await setAside(database, message(third), { maxTries: 1, reason: '1', afterMs: 0 });
    assert.deepEqual(await readWaitingForHours(database), [message(fourth)]);
    await makeWaitingDue(database, [message(fourth)]);
    await inTransaction(database, (claim) =>
      defer(claim, [{ messageId: message(fifth), status: 'queued', dueAt: new Date(), reason: '1' }]),
    );
    await pauseTemplate(database, 'ventanilla_approved', '1');
    await resumeTemplate(database, 'ventanilla_approved');
    await applyEarly(database, (session) => takeKnownEarly(session, null));
    await readEventPage({ database, vault, clock: machineClock }, partner, null, 500);
    await readPartnerApplications({ database, vault, clock: machineClock }, partner, [
      toApplicationId(first),
    ]);
    await searchOwn(partner, ids);
  }
  await setMessages(store.database, [ids[7]], { status: 'delivered' });
  for (const filter of [
    [],
    ['--status', 'failed'],
    ['--status', 'delivered'],
    ['--status', 'sending'],
    ['--application', `${first}`],
  ])
    await json('message', 'list', ...filter);
  for (const filter of [
    [],
    ['--status', 'in_review'],
    ['--phone', phone(0)],
    ['--partner', `${partner}`],
    ['--interested'],
  ])
    await json('application', 'list', ...filter);
  await json('application', 'show', `${first}`);
  await suppressApplicants(database, [toApplicationId(ids[8] as number)]);
  await json('application', 'approve', `${ids[9]}`, '--reason', 'x');
  await json('application', 'reject', `${ids[10]}`, '--reason', 'x');
  await json('message', 'retry', `${third}`);
  await json('message', 'cancel', `${third}`);
  await setMessages(store.database, [third], { status: 'failed', attempts: 1 });
  await json('message', 'retry', '--status', 'failed', '--partner', `${partner}`, '--yes');
  await register(key, [applicant({ phone: phone(20) })]);
  await json('message', 'cancel', '--status', 'queued', '--partner', `${partner}`, '--yes');
  await register(key, [applicant({ phone: phone(30) })]);
  const correct = ['--field', 'id_number', '--value', '80900700', '--reason', 'x'];
  await json('subject', 'correct', '--application', `${ids[10]}`, ...correct);
  const named = ['--phone', phone(30), '--reason', 'x'];
  await json('subject', 'export', ...named, '--reveal');
  await json('subject', 'erase', ...named, '--close', '--yes');
  const erasures = [];
  for await (const erasure of listErasures(counted)) erasures.push(readErasure(erasureJson(vault, erasure)));
  await replayErasures({ ...counted, actor: 'ana' }, erasures);
  await readChatMessages(database, vault, 50);
  await readChatMessagesOf(database, vault, [toApplicationId(first)]);
  await readChatMessage(database, vault, message(first));
  await countAbsentMessages(database, 50);
  await phonesOfOldMessages(database, [channelIndexOf(vault, 'wamid.old')]);
  await batchesOfNoKey(database, [batchAndPositionOf(toApplicationId(first)).batchId]);
  await confirmSecrets(store.database, TEST_SECRETS, WITNESSES, machineClock);
  await assert.rejects(
    checkSecrets(database, { ...TEST_SECRETS, dataKeys: new Map() }, WITNESSES, machineClock),
    SetupError,
  );
  await assert.rejects(
    checkSecrets(database, { ...TEST_SECRETS, indexKey: Buffer.alloc(32) }, WITNESSES, machineClock),
    SetupError,
  );
  // The upkeep trims the first of these batches, and the envelope of the other one does not open.
  const [trimmed] = await register(key, [applicant({ phone: phone(21) }), applicant({ phone: phone(0) })]);
  const [broken] = await register(key, [applicant({ phone: phone(22) }), applicant({ phone: phone(0) })]);
  const batches = [trimmed, broken].map((id) => batchAndPositionOf(toApplicationId(id!)).batchId);
  await eventually('the intake to trim both', async () => {
    const { rowCount } = await store.database.query('SELECT FROM batches WHERE id = ANY ($1) AND surplus', [
      batches,
    ]);
    return rowCount === 0;
  });
  await store.database.query(
    `UPDATE batches SET surplus = true, created_at = created_at - interval '1 minute',
      envelope = CASE id WHEN $2 THEN '\\x00' ELSE envelope END WHERE id = ANY ($1)`,
    [batches, batches[1]],
  );
  await offeredWithoutConversation(database, [toApplicationId(first)]);
  await reasonsOfApplications(database, [toApplicationId(first)]);
  await readAskedAbout(database, [toApplicationId(first)]);
  await newestOf(database, [phoneIndexOf(vault, phone(0))]);
  await readBrandOf(database, toApplicationId(first));
  for (const name of (await functionsOnPartitions()).ofIds) await database.query(`SELECT FROM ${name}('{}')`);
  return register(key, [applicant({ phone: phone(300) }), applicant({ phone: phone(301) })]);
}

/** Messages in many partitions are claimed, lost, mended after a step of the clock, answered and tapped. */
async function spread(): Promise<void> {
  const { id: partner } = await json('partner', 'add', '--name', 'Spread', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(counted);
  const phone = (n: number) => toPhone(`+57300666${String(n).padStart(4, '0')}`);
  const ids: number[] = [];
  for (let n = 0; n < SPREAD; n += 1) {
    ids.push(...(await register(key, [applicant({ phone: phone(n) })])));
    await goOnFrom(store.database, (await partitionEnds(store.database)).at(-1)! - 2 ** 23);
    await makePartitions(store.database);
  }
  const deferred = ids.filter((_, n) => n % 2 === 0);
  await setMessages(store.database, deferred, { status: 'queued', dueInMs: -1_000 });
  const accepted: string[] = [];
  const send = async ({ messageId }: { messageId: string }) => {
    accepted.push(messageId);
    return { kind: 'accepted', channelMessageId: `wamid.spread.${messageId}` } as const;
  };
  for (let turn = 0; turn < 8; turn += 1) {
    // Of the messages of the test before, one has an envelope that does not open.
    const context = deliveryContext(counted, { send }, { onFault: () => {} });
    await (await deliverDue(context, new AbortController().signal)).concluded;
  }
  const isOurs = (id: number) => ids.includes(id);
  assert.deepEqual(
    accepted
      .map(Number)
      .filter(isOurs)
      .toSorted((a, b) => a - b),
    ids,
  );
  await applyChannelEvents({ database, vault }, [
    ...ids.map((id) => ({
      kind: 'status' as const,
      channelMessageId: `wamid.spread.${id}`,
      callback: `${id}.1`,
      status: 'delivered' as const,
      at: new Date(),
      failure: null,
    })),
    ...ids.map((id, n) => ({
      kind: 'tap' as const,
      payload: interestPayload(toApplicationId(id)),
      title: null,
      contextMessageId: null,
      from: phone(n),
      at: new Date(),
    })),
  ]);
  const { rows } = await store.database.query(
    `SELECT count(*) FILTER (WHERE status = 'delivered')::int AS delivered,
      (SELECT count(interested_at)::int FROM application_states WHERE application_id = ANY ($1)) AS interested
    FROM messages_of($1)`,
    [ids],
  );
  assert.deepEqual(rows, [{ delivered: SPREAD, interested: SPREAD }]);
  await store.database.query(
    `INSERT INTO leases (begun_at, lost_at, ids, types, attempts)
    SELECT now(), now() - interval '1 minute', ARRAY[id], 'a', ARRAY[2] FROM unnest($1::bigint[]) AS g(id)`,
    [ids],
  );
  await setMessages(store.database, ids, { status: 'uncertain', dueInMs: 86_400_000 });
  await findLost(database, 0);
  assert.equal((await store.database.query('SELECT FROM leases')).rowCount, 0);
  await store.database.query(`
    UPDATE message_records SET changed_at = now() + interval '12 hours' WHERE status = 'uncertain'`);
  await store.database.query("UPDATE recipients SET sent_at = now() + interval '1 hour'");
  await store.database.query("UPDATE sender SET latest_at = now() + interval '1 hour'");
  await mendLeap(database);
  const { rows: ahead } = await store.database.query(`
    SELECT FROM recipients WHERE sent_at > now()
    UNION ALL SELECT FROM message_records WHERE changed_at > now()`);
  assert.equal(ahead.length, 0);
}

/** Conversations begin, are found, answered and reminded of, and their applicants are read. */
async function talk(ids: readonly number[]): Promise<void> {
  const applications = ids.map(toApplicationId);
  const [first] = applications as [ApplicationId];
  const candidates = await readCandidates(database, applications);
  await inTransaction(database, (session) => markConversations(session, applications));
  await beginConversations(database, candidates, false);
  await applicationsOfContexts(database, [channelIndexOf(vault, 'wamid.talk')]);
  await readSpeakers(database, vault, applications);
  await channelIndexesOf(database, applications);
  await approvalMessages(database, applications);
  await inTransaction(database, (session) => cancelApprovals(session, applications));
  // From the second time on nothing waits any more.
  for (let round = 0; round < 7; round += 1) {
    await noteWrongPerson(database, [first], true);
    assert.equal((await readWrongPersons(database)).length, 1);
    await inTransaction(database, async (session) => {
      await lockMessages(session, messageIdsOf(first));
      await cancelMessagesForWrongPerson(session, [first]);
    });
  }
  await noteWrongPerson(database, [first], false);
  const content = { text: 'Hola', buttons: [], readMessageId: null };
  await inTransaction(database, async (session) => {
    await queueReminders(session, [first]);
    await queueReplies(
      session,
      candidates.map(({ applicationId, partnerId, phoneIndex }) => ({
        ...{ applicationId, partnerId, phoneIndex, turn: 1, windowUntil: new Date() },
        content: sealReply(vault, { applicationId, turn: 1 }, content),
      })),
    );
    const acceptance = { contract: '', acceptedInput: '0', shownTurn: 1 };
    assert.equal((await signContract(session, vault, first, acceptance)).result, 'not_signable');
  });
  await policyOf(database, first);
  await replay(database, null);
  for await (const page of batchesFrom(database, new Date(0))) if (page.length > 0) break;
  await readForContract(database, vault, first);
  await readDecisionFacts(database, applications);
  await inTransaction(database, (session) => holdApplication(session, first));
  await expandReviewsOf(database, applications, 24);
  await expandReviews(database, '0', 20, 24);
  await lastEventOf(database, toApplicationId(first));
  const newest = applications.toSorted((a, b) => a - b).at(-1)!;
  const asked = { id: newest, lastEvent: '0', terms: DEMO_TERMS };
  assert.ok((await readForPage({ ...counted, actor: 'ana' }, 1, asked)).capacity.installment !== null);
  const neighbours = await readNeighbours(counted, newest);
  assert.ok(neighbours!.sameIdNumber.count > 0);
  assert.ok(neighbours!.sameCity.count > 0);
  const phones = [phoneIndexOf(vault, toPhone('+573005550300'))];
  const found = await findByIndexes(
    database,
    vault,
    { phones, idNumber: idNumberIndexOf(vault, 'nobody') },
    50,
  );
  assert.ok(found.length > 0);
  assert.equal((await readListed(database, found, {})).size, found.length);
  assert.ok((await applicationsDown(database, {}, null, 50)).length > 20);
  await readOwners(database, vault, applications);
  await stillThere(database, applications);
  await runJob(database, 'forget replies');
  await runJob(database, 'forget conversations');
}

/** By an ID number, also while batches are in no look-up bucket, and by a day. */
async function searchOwn(partnerId: PartnerId, ids: readonly number[]): Promise<void> {
  const page = { partnerId, before: null, limit: 100 };
  const { rows } = await store.database.query<{ day: string }>(
    "SELECT (now() AT TIME ZONE 'UTC')::date::text AS day",
  );
  const ofDay = await ownOfDay(database, rows[0]!.day, page);
  assert.ok(ids.every((id) => ofDay.ids.includes(toApplicationId(id))));
  const index = idNumberIndexOf(vault, applicant({}).id_number as string);
  await ownOfIdNumber(database, vault, index, page);
}

const flipped = (index: string) => `${BigInt.asIntN(64, ~BigInt(index))}`;

async function everyJob(): Promise<void> {
  const upkeep = await testUpkeep(counted, { RETENTION_DAYS: '30' });
  await store.database.query("UPDATE sender SET latest_at = now() + interval '1 hour'");
  assert.deepEqual(await upkeep.turn(), []);
  const [shadow] = await readShadows(database);
  assert.ok(shadow!.applications > 20, 'the shadow has counted');
  await leavePartition(database, 1, 0);
  await fillLookUpBuckets(database);
  await store.database.query(
    `UPDATE closed_segments SET closed_ms = closed_ms - 100 * 86400000::bigint, closed_at = closed_at - interval '100 days'
    WHERE NOT in_buckets`,
  );
  await fillLookUpBuckets(database);
  await store.database.query(
    `UPDATE batches SET created_at = created_at - interval '90 days' WHERE id >= ${PARTITIONS * 2 ** 23}`,
  );
  await store.database.query(
    'UPDATE closed_segments SET kept_ms = 1e15 WHERE ends_at < (SELECT max(ends_at) FROM closed_segments)',
  );
  await planRetention({ ...counted, actor: 'ana' }, { rejected: 30, disbursed: 3_000 });
  await forgetPartitions(database, machineClock, 30);
  assert.deepEqual(await upkeep.turn(), []);
  const newKey = new Vault({
    ...TEST_SECRETS,
    dataKeys: new Map([[2, Buffer.alloc(32, 2)], ...TEST_SECRETS.dataKeys]),
  });
  for (let place: string | null = ''; place !== null; )
    place = (await resealEnvelopes(database, newKey, place)).next;
  await envelopesOf(database, newKey, 2);
  // What a reindex reads of applications whose phones become one; the steps below move no phone.
  await database.query('SELECT a.id, a.status FROM applications_of($1) AS a', ['{128}']);
  // The second pass undoes the first one.
  for (const { step } of [...WITNESSES.reindexings, ...WITNESSES.reindexings]) {
    for (let place: string | null = ''; place !== null; ) {
      const from: string = place;
      const macs = { vault, before: 0 };
      const remaking = { again: flipped, macs, opening: null, movePhones: async () => {} };
      place = (await inTransaction(database, (session) => step(session, remaking, from))).next;
    }
  }
}

describe(`a store with ${PARTITIONS} partitions`, () => {
  it('has functions about partitions that name them when they are planned', async () => {
    assert.deepEqual((await functionsOnPartitions()).unplanned, []);
  });

  it('is used by statements and jobs that lock a few partitions each', async () => {
    await addPartitions(store.ownerUrl, PARTITIONS);
    // While there is no batch, a start with another index key looks for one in each partition.
    await confirmSecrets(store.database, TEST_SECRETS, WITNESSES, machineClock);
    const other = { ...TEST_SECRETS, indexKey: Buffer.alloc(32) };
    await checkSecrets(database, other, WITNESSES, machineClock);
    await talk(await everything());
    await everyJob();
    const many = [...counts]
      .filter(([, locks]) => locks > MOST)
      .map(([text, locks]) => `${locks} locks: ${text}`);
    assert.deepEqual(many, []);
  });

  it('claims and settles messages of many partitions with locks on a few at a time', async () => {
    const before = new Map(counts);
    counts.clear();
    await spread();
    const many = [...counts]
      .filter(([, locks]) => locks > MOST_OF_SPREAD)
      .map(([text, locks]) => `${locks} locks: ${text}`);
    for (const [text, locks] of before) counts.set(text, Math.max(locks, counts.get(text) ?? 0));
    assert.deepEqual(many, []);
  });

  it('is searched with locks on a few partitions at a time, also while no batch is in a look-up bucket', async () => {
    const { rows } = await store.database.query('SELECT ends_at FROM closed_segments WHERE in_buckets');
    await store.database.query('UPDATE closed_segments SET in_buckets = false');
    const before = new Map(counts);
    counts.clear();
    const [shown] = await json('application', 'list', '--limit', '1');
    for (const filter of [
      ['--phone', '+573006660001'],
      ['--id-number', 'nobody-has-it'],
    ])
      await json('application', 'list', ...filter);
    await readForPage({ ...counted, actor: 'ana' }, 1, {
      ...{ id: toApplicationId(shown.id), lastEvent: '0', terms: null },
    });
    await readNeighbours(counted, toApplicationId(shown.id));
    const many = [...counts]
      .filter(([, locks]) => locks > MOST_OF_SPREAD)
      .map(([text, locks]) => `${locks} locks: ${text}`);
    for (const [text, locks] of before) counts.set(text, Math.max(locks, counts.get(text) ?? 0));
    assert.deepEqual(many, []);
    await store.database.query('UPDATE closed_segments SET in_buckets = true WHERE ends_at = ANY ($1)', [
      rows.map(({ ends_at }) => ends_at),
    ]);
    const index = idNumberIndexOf(vault, applicant({}).id_number as string);
    const found = await ownOfIdNumber(database, vault, index, {
      partnerId: shown.partner.id,
      before: null,
      limit: 100,
    });
    assert.ok(found.ids.length > 0);
  });

  it('has one number of partitions for a statement', async () => {
    const { rows } = await store.database.query('SELECT most_partitions() AS most');
    assert.equal(rows[0].most, MOST_PARTITIONS);
  });

  it('had each statement about partitions that the service has', async () => {
    const { all } = await functionsOnPartitions();
    const about = new RegExp(`${READS.source}|\\b(${all.join('|')})\\(`);
    const ran = [...counts.keys()].map(squeezed);
    const missing = readSources('src')
      .filter(({ path }) => !ALONE.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)]
          .map((match) => match[1] ?? match[2] ?? '')
          .filter((sql) => about.test(sql) && /\b(SELECT|UPDATE|DELETE|INSERT)\b/.test(sql))
          .filter((sql) => !ran.some((text) => patternOf(sql).test(text)))
          .map((sql) => `${path}: ${squeezed(sql)}`),
      );
    assert.deepEqual(missing, [], 'run these statements in this file');
  });
});

function squeezed(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim();
}

/** What is put into a statement may be anything. */
function patternOf(sql: string): RegExp {
  const parts = squeezed(sql).split(/\$\{[^}]*\}/);
  return new RegExp(parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[\\s\\S]*'));
}
