/** The tables of docs/messages.md have every status of a message and every code of the channel. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MESSAGE_STATUSES } from '../src/domain/message/notify.ts';
import { REASONS } from '../src/domain/message/reasons.ts';
import { ERROR_CODES } from '../src/subjects/messages/channels/whatsapp-errors.ts';
import { backoffMs, MAX_TRIES } from '../src/subjects/messages/rules/after-send.ts';
import { codesIn, tableAfter } from './support/markdown.ts';
import { readSources, readSql } from './support/sources.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../docs/messages.md'), 'utf8');

test('each status has its row, and there are no other rows', () => {
  const named = tableAfter(DOCUMENT, '## The statuses\n').map(([status]) => status);
  assert.deepEqual(
    named,
    MESSAGE_STATUSES.map((status) => `\`${status}\``),
  );
});

const ROW_OF = {
  retry: /^again, with backoff/,
  pause_recipient: /^again after 4,/,
  wait: /^again after 24 hours/,
  give_up: /^`failed`$/,
  opted_out: /^`failed`, and the phone is suppressed/,
  pause_template: /^the template is paused/,
  pause_sender: /^the sender is paused/,
} as const;
for (const [action, codes] of Object.entries(ERROR_CODES)) {
  test(`the row of ${action} has the codes that lead to it`, () => {
    const row = tableAfter(DOCUMENT, "What WhatsApp's codes lead to").find(([text, , happens]) => {
      return /^\d/.test(text ?? '') && ROW_OF[action as keyof typeof ROW_OF].test(happens ?? '');
    });
    const written = (row?.[0] ?? '').split(', ').flatMap((text) => {
      const [first, last = first] = text.split(' to ').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
    assert.deepEqual(written.toSorted(), codes.toSorted());
  });
}

test('the waits of the document are the waits between attempts', () => {
  const waits = Array.from({ length: MAX_TRIES - 1 }, (_, index) => backoffMs(index + 1, 0) / 1_000);
  const text = `${waits.slice(0, -1).join(', ')} and ${waits.at(-1)} seconds`;
  assert.ok(DOCUMENT.replace(/\s+/g, ' ').includes(text), text);
  assert.ok(DOCUMENT.includes(`in try ${MAX_TRIES}`));
});

const SOURCES = readSources('src')
  .filter(({ path }) => !path.endsWith('message/reasons.ts'))
  .map(({ text }) => text);
const SQL = [
  ...readSources('src/subjects/messages/sql').map(({ text }) => text),
  // Documents have reasons of their own.
  ...readSql()
    .filter(({ path }) => !/\bdocuments\b|_documents/.test(path))
    .map(({ text }) => text),
];

/** The literals that a statement gives to a column `reason`, or compares with one. */
function reasonsIn(sql: string): string[] {
  const single = /(?<![a-z_])reasons?(?:\[\w+\])? *(?:=|<>|:=) *'([a-z_]+)'/g;
  const lists = /(?<![a-z_])reason (?:NOT )?IN \(([^)]*)\)/g;
  const cases = [...sql.matchAll(/\bEND AS reason\b/g)].map(({ index }) => caseBefore(sql, index));
  const tests = [...sql.matchAll(/\bCASE (?:\w+\.)?reason\b/g)].map(({ index }) => caseFrom(sql, index));
  return [
    ...[...sql.matchAll(single)].map(([, reason]) => reason as string),
    ...[...sql.matchAll(lists)].flatMap(([, list = '']) => literals(list, /'([a-z_]+)'/g)),
    ...cases.flatMap((text) => literals(text, /\b(?:THEN|ELSE) '([a-z_]+)'/g)),
    ...tests.flatMap((text) => literals(text, /\bWHEN '([a-z_]+)'/g)),
    ...literals(sql, /array_fill\('([a-z_]+)'::text/g),
  ];
}

function literals(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, literal]) => literal as string);
}

/** The expression that this END closes. */
function caseBefore(sql: string, end: number): string {
  let depth = 0;
  const words = [...sql.slice(0, end).matchAll(/\b(CASE|END)\b/g)].toReversed();
  for (const { 0: word, index } of words) {
    if (word === 'END') depth += 1;
    else if (depth === 0) return sql.slice(index, end);
    else depth -= 1;
  }
  throw new Error('no CASE for an END AS reason');
}

/** The expression that this CASE opens. */
function caseFrom(sql: string, start: number): string {
  return sql.slice(start, sql.indexOf('END', start));
}

/** Codes of others: WhatsApp's, the status of an answer, the system's. */
const OF_OTHERS = /^(\d+(\.\d+)?|http_\d{3}|[A-Z]+)$/;

test('the table of reasons has the codes of the service in their order, and no other words', () => {
  const codes = tableAfter(DOCUMENT, '## Reasons\n').flatMap(([cell = '']) => codesIn(cell));
  assert.deepEqual([...new Set(codes.filter((code) => !OF_OTHERS.test(code)))], REASONS);
});

test('a reason that a statement writes or asks for is one of the list', () => {
  const known: readonly string[] = REASONS;
  const found = new Set(SQL.flatMap(reasonsIn));
  assert.deepEqual(
    [...found].filter((reason) => !known.includes(reason)),
    [],
  );
  for (const reason of ['pair_limit', 'rate', 'replaced', 'no_record', 'operator', 'template_paused']) {
    assert.ok(found.has(reason), `no statement with ${reason} was found`);
  }
});

test('every reason of the list is made somewhere', () => {
  const texts = [...SQL, ...SOURCES].join('\n');
  assert.deepEqual(
    REASONS.filter((reason) => !texts.includes(`'${reason}'`)),
    [],
  );
});
