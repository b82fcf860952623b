/** What stands in TypeScript and in SQL says the same, and the arithmetic of ids stands once on each side. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  applicationIdAt,
  applicationOfMessage,
  batchAndPositionOf,
  batchesOfPartition,
  messageIdsOf,
  partitionOf,
  partitionOfBatch,
  toApplicationId,
  toBatchId,
  toMessageId,
} from '../../src/domain/application/ids.ts';
import { APPLICATION_STATUSES, INITIAL_STATUS, isOpen } from '../../src/domain/application/lifecycle.ts';
import { MESSAGE_STATUSES, MESSAGE_TYPES, messageType } from '../../src/domain/message/notify.ts';
import { DECISIONS } from '../../src/domain/scorecard/scorecard.ts';
import { DAY_MS, HOUR_MS } from '../../src/ground/base/clock.ts';
import { byPartitions } from '../../src/subjects/applications/sql/partition-runs.ts';
import { DISABLED_REASONS } from '../../src/subjects/events/push/rules/failures.ts';
import { WAITING_STATUSES } from '../../src/subjects/messages/sql/waiting-messages.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { REPOSITORY, readSources, readSql } from '../support/sources.ts';

const { database } = await testDatabase();

/** What a SQL expression about `v` gives for each value. */
async function sqlOf<T>(
  values: readonly (string | number)[],
  type: string,
  expression: string,
): Promise<T[]> {
  const { rows } = await database.query<{ result: T }>(
    `SELECT ${expression} AS result FROM unnest($1::${type}[]) WITH ORDINALITY AS u(v, n) ORDER BY u.n`,
    [values],
  );
  return rows.map(({ result }) => result);
}

it('the lists of values are the same', async () => {
  const labels = async (type: string) => {
    const { rows } = await database.query<{ labels: string[] }>(
      `SELECT enum_range(NULL::${type})::text[] AS labels`,
    );
    return rows[0]?.labels;
  };
  assert.deepEqual(await labels('application_status'), APPLICATION_STATUSES);
  assert.deepEqual(await labels('decision'), DECISIONS);
  assert.deepEqual(await labels('message_status'), MESSAGE_STATUSES);
  assert.deepEqual(await labels('message_type'), MESSAGE_TYPES);
});

it('an endpoint is disabled for the same reasons', () => {
  const statements = [
    readFileSync(join(REPOSITORY, 'sql/functions/push/attempts.sql'), 'utf8'),
    ...readSources('src/subjects/events/push/sql').map(({ text }) => text),
  ];
  const given = statements.flatMap((text) => [
    ...[...text.matchAll(/\bdisabled_reason = '(\w+)'/g)].map(([, reason]) => reason),
    ...[...text.matchAll(/\bdisabled_reason := CASE[^;]*;/g)].flatMap(([choice]) =>
      [...choice.matchAll(/\bTHEN '(\w+)'/g)].map(([, reason]) => reason),
    ),
  ]);
  assert.deepEqual(given.toSorted(), DISABLED_REASONS.toSorted());
});

it('an application begins in the same status, and is open in the same statuses', async () => {
  const begun = await sqlOf(DECISIONS, 'decision', 'initial_status(v)');
  assert.deepEqual(
    begun,
    DECISIONS.map((decision) => INITIAL_STATUS[decision]),
  );
  const open = await sqlOf(APPLICATION_STATUSES, 'application_status', 'is_open(v)');
  assert.deepEqual(open, APPLICATION_STATUSES.map(isOpen));
});

it('a decision leads to the same message', async () => {
  const types = await sqlOf(DECISIONS, 'decision', 'message_type_for(initial_status(v))');
  const application = applicant({ messaging_optin: true });
  assert.deepEqual(
    types,
    DECISIONS.map((decision) => messageType(application, decision)),
  );
});

it('the same messages wait', async () => {
  const waiting = await sqlOf(MESSAGE_STATUSES, 'message_status', 'is_waiting(v)');
  assert.deepEqual(
    waiting,
    MESSAGE_STATUSES.map((status) => WAITING_STATUSES.includes(status)),
  );
});

const IDS = [0, 1, 127, 128, 12_345, 2 ** 23 * 128 - 1, 2 ** 23 * 128, 2 ** 53 - 1].map(toApplicationId);

it('ids lead to the same batches, positions and partitions', async () => {
  const places = await sqlOf<{ batchId: string; position: number }>(
    IDS,
    'bigint',
    `json_build_object('batchId', batch_of(v)::text, 'position', position_of(v))`,
  );
  assert.deepEqual(places, IDS.map(batchAndPositionOf));
  const back = await sqlOf(IDS, 'bigint', 'application_id_at(batch_of(v), position_of(v))::text');
  assert.deepEqual(back, IDS.map(String));
  for (const { batchId, position } of IDS.map(batchAndPositionOf)) applicationIdAt(batchId, position);
  const ends = await sqlOf(IDS, 'bigint', 'partition_end(batch_of(v))::text');
  assert.deepEqual(
    ends,
    IDS.map((id) => batchesOfPartition(partitionOfBatch(batchAndPositionOf(id).batchId)).before),
  );
  const [width] = await sqlOf([1], 'bigint', 'partition_width()::text');
  assert.equal(width, batchesOfPartition(0).before);
  assert.equal(batchesOfPartition(0).from, toBatchId(0));
});

it('messages lead to the same applications and batches', async () => {
  for (const id of IDS) {
    const [first, approved, rejected, reminder] = messageIdsOf(id);
    const ids = [first, approved, rejected, reminder] as string[];
    assert.deepEqual(await sqlOf([id], 'bigint', 'reminder_of(v)::text'), [reminder]);
    assert.deepEqual(await sqlOf(ids, 'bigint', 'is_reminder(v)::text'), ['false', 'false', 'false', 'true']);
    const later = await sqlOf(
      ['pending_signature', 'rejected'],
      'application_status',
      `message_after_review(${id}, v)::text`,
    );
    assert.deepEqual(later, [approved, rejected]);
    const applications = await sqlOf(ids, 'bigint', 'application_of_message(v)::text');
    assert.deepEqual(applications, messageIdsOf(id).map(applicationOfMessage).map(String));
    const batches = await sqlOf(ids, 'bigint', 'batch_of_message(v)::text');
    assert.deepEqual(new Set(batches), new Set([batchAndPositionOf(id).batchId]));
  }
});

it('a probe waits 15 seconds, twice as long each time, and 15 minutes at most', async () => {
  const seconds = await sqlOf(
    [0, 1, 5, 6, 10, 1_000],
    'integer',
    'extract(epoch FROM probe_pause(v))::integer',
  );
  assert.deepEqual(seconds, [15, 30, 480, 900, 900, 900]);
  const homes = readSql().filter(({ text }) => text.includes("interval '15 seconds'"));
  assert.deepEqual(
    homes.map(({ path }) => path),
    ['sql/functions/shared/probes.sql'],
  );
});

it('a statement touches as many partitions', async () => {
  const ids = Array.from({ length: 40 }, (_, n) => toMessageId(`${n * 2 ** 30}`));
  const [first] = byPartitions(ids, partitionOf);
  const { rows } = await database.query('SELECT of_few_partitions($1)::text[] AS ids', [ids]);
  assert.deepEqual(rows[0].ids, first);
});

/** Literals of the arithmetic of ids. */
const LITERAL = />> ?7\b|<< ?7\b|& ?127\b|\* ?128\b/;
/** Where they may stand: the functions of ids. */
const HOMES = /^CREATE OR REPLACE FUNCTION (?:application_id_at|batch_of|position_of|batch_of_message)\(/;

it('no statement computes with the parts of an id itself', () => {
  const pieces = readSql().flatMap(({ text }) => text.split(/^(?=CREATE )/m));
  assert.ok(pieces.some((piece) => HOMES.test(piece) && LITERAL.test(piece)));
  const texts = [
    ...pieces.filter((piece) => !HOMES.test(piece)),
    ...readSources('src').map(({ text }) => text),
  ];
  const found = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => !/^\s*(?:--|\/?\*|\/\/)/.test(line) && LITERAL.test(line))
    .filter((line) => !/MIB|BYTES/.test(line));
  assert.deepEqual(found, []);
});

/** A day or an hour in milliseconds, written as figures. */
const TIME_LITERAL = /\b(?:24 \* (?:60 \*|3_?600)|60 \* 60_?000|3_?600_?000|86_?400_?000|2_?592_?000_?000)/;
/** Below `base`. */
const OWN_HOURS = ['ground/invariants/check-store.ts'];

it('a day and an hour in milliseconds stand once on each side', async () => {
  const [[ms], units] = [
    await sqlOf(['1 day'], 'text', 'ms_of(v::interval)::float8'),
    [DAY_MS, 24 * HOUR_MS],
  ];
  assert.deepEqual(units, [ms, ms]);
  const texts = [
    ...readSql(),
    ...readSources('src').filter(({ path }) => path !== 'ground/base/clock.ts' && !OWN_HOURS.includes(path)),
  ];
  const found = texts.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => !/^\s*(?:--|\/?\*|\/\/)/.test(line) && TIME_LITERAL.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  assert.deepEqual(found, []);
});

it('24 hours of quota, of a receipt and of a phone stand in one function each', () => {
  const homes = readSql()
    .flatMap(({ text }) => text.split(/^(?=CREATE )/m))
    .flatMap((piece) =>
      [...piece.matchAll(/interval '24 hours'/g)].map(
        () => /^CREATE OR REPLACE FUNCTION (\w+)/.exec(piece)?.[1],
      ),
    );
  assert.deepEqual(homes, ['receipt_life', 'recipient_window', 'remember_message_counts', 'usage_window']);
});
