/**
 * Every table is looked at: it has something of a person, or the list says why it has nothing. A new table fails this
 * test until somebody has thought about it.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY, readSources } from '../support/sources.ts';

/** The tables with something of a person, by what leads to the person. */
const PERSONAL: readonly string[] = [
  // By blind indexes, and by the sealed envelope.
  'batches',
  'look_up_buckets',
  // By the number of the application.
  ...['application_states', 'application_events', 'review_queue', 'open_phones', 'batch_receipts'],
  'review_items',
  ...['outbox', 'leases', 'message_records', 'message_records_after_reviews', 'waiting_messages'],
  ...['partner_events', 'pushes', 'operator_events', 'documents', 'document_inputs', 'income_checks'],
  ...['application_notes', 'pends', 'open_pends', 'second_looks', 'income_steps'],
  ...['loan_contracts', 'signing_codes', 'contract_evidence', 'proposals', 'open_proposals'],
  // By blind indexes of the phone, of the person at the channel, or of the channel's messages.
  ...['conversations', 'conversation_inputs', 'conversation_work'],
  ...['waiting_rejections', 'recipients', 'channel_users', 'early_events', 'suppressions', 'replies'],
];

/** The tables with nothing of a person, and what they have. */
const IMPERSONAL: Readonly<Record<string, string>> = {
  runtime_privileges: 'names of tables',
  secret_checks: 'fingerprints of secrets',
  elapsed: 'one row of the store',
  partners: 'companies',
  api_keys: 'keys of companies',
  usage_entries: 'numbers by partner and second',
  usage_counted: 'numbers by partner and second',
  usage_totals: 'numbers by partner',
  key_outcomes: 'numbers by key and hour',
  key_totals: 'numbers by key',
  policies: 'scoring policies',
  message_counts: 'numbers by status',
  sender: 'one row of the store',
  flows: 'texts of companies',
  paused_templates: 'names of templates',
  partner_event_totals: 'numbers by partner',
  partner_endpoints: 'URLs of companies',
  closed_segments: 'ranges of batch numbers',
  least_retention: 'one row of the store',
  reseals: 'one row of the store',
  reindexes: 'one row of the store',
  upkeep_jobs: 'names of jobs',
  message_count_hours: 'numbers by status and hour',
  conversation_counts: 'numbers by step and holder',
  backlog_counts: 'numbers by hour',
  document_counts: 'numbers by state',
  operator_events_head: 'one row of the store',
  operators: 'accounts of operators, whose ids the history names',
  operator_sessions: 'sessions of operators',
  operator_tries: 'keyed hashes of logins and addresses of operators, for 15 minutes',
  operator_pending_sign_ins: 'sign-ins of operators that are under way, for ten minutes',
  selections: 'ids of applications in review, for ten minutes',
  left_pages: 'random ids of closed pages by operator, for an hour',
  decision_hours: 'numbers by operator and hour',
  document_removals: 'random names of files that nobody can open any more',
  desk_requests: 'numbers of applications by operator and key of a request',
  erasures: 'ids of applications that have nothing of a person any more',
  erased_phones: 'blind indexes of phones that stay suppressed, and nothing else of the person',
};

test('every table of the migrations has something of a person, or is listed with why it has nothing', () => {
  const made = readdirSync(join(REPOSITORY, 'migrations'))
    .map((name) => readFileSync(join(REPOSITORY, 'migrations', name), 'utf8'))
    .flatMap((text) =>
      [...text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map(([, name]) => name as string),
    );
  assert.ok(made.length > 30, `found only ${made.length} tables`);
  const listed = [...PERSONAL, ...Object.keys(IMPERSONAL)];
  assert.deepEqual(listed.toSorted(), [...new Set(made)].toSorted());
  assert.deepEqual(listed.length, new Set(listed).size);
});

/** Shown by what the export reads of an application or a message: the command names no such table. */
const BY_FUNCTIONS: Readonly<Record<string, string>> = {
  batches: 'applications_of',
  application_states: 'applications_of',
  application_events: 'application_events',
  look_up_buckets: 'look_up(',
  review_queue: 'applications_of',
  review_items: 'applications_of',
  outbox: 'messages_of',
  message_records: 'messages_of',
  message_records_after_reviews: 'messages_of',
  waiting_messages: 'messages_of',
};

test('the export reads every table that has something of a person', () => {
  const read = readSources('src')
    .filter(({ path }) => /^subjects\/(rights|applications|messages)\/sql\//.test(path))
    .map(({ text }) => text)
    .join('\n');
  const traces = readSources('src').find(({ path }) => path === 'subjects/rights/sql/traces.ts')?.text ?? '';
  const missed = PERSONAL.filter((table) => {
    const by = BY_FUNCTIONS[table];
    return by === undefined ? !new RegExp(`\\b${table}\\b`).test(traces) : !read.includes(by);
  });
  assert.deepEqual(missed, []);
});
