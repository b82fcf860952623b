/** The export of a person reads every table that is declared to have something of a person. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources } from '../support/sources.ts';
import { declaredTables } from '../support/tables.ts';

const PERSONAL = (await declaredTables()).flatMap(({ table }) =>
  typeof table.person === 'string' ? [table.name] : [],
);

/** Shown by what the export reads of an application or a message: the command names no such table. */
const BY_FUNCTIONS: Readonly<Record<string, string>> = {
  batches: 'applications_of',
  application_states: 'applications_of',
  application_events: 'application_events',
  corrections: 'FROM corrections c',
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
