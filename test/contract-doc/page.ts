/** Reads docs/contract.md for the tests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIELDS, namedFields } from '../../src/domain/application/fields.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';
import { messageType } from '../../src/domain/message/notify.ts';
import type { Decision } from '../../src/domain/scorecard/scorecard.ts';
import { tableAfter } from '../support/markdown.ts';

export const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8');

/** The rows of the first table after `mark`. */
export function table(mark: string): string[][] {
  return tableAfter(DOCUMENT, mark);
}

export function code(text: string): string {
  return `\`${text}\``;
}

export const fields = namedFields('messaging');

/** A valid application under its English names. */
export const GOOD: Readonly<Record<string, unknown>> = Object.fromEntries(
  FIELDS.map(({ name, example }) => [name, example]),
);

/** The type of the message to an applicant with consent and a phone. */
export function typeOf(decision: Decision): string {
  const reading = readApplication(GOOD, fields, 'CO');
  assert.equal(reading.kind, 'valid');
  return messageType(reading.application, decision) as string;
}
