/** A batch made ready for the registering statement: sealed, indexed and turned into columns. */
import { v7 as uuidv7 } from 'uuid';
import { type Application, FIELDS, type Field } from '../domain/fields.ts';
import type { MessageType } from '../domain/notify.ts';
import { foldPhone } from '../domain/phone.ts';
import type { Assessment } from '../domain/scorecard.ts';
import { quoted } from './pg-encoding.ts';
import type { Vault } from './vault.ts';

export interface Candidate {
  /** Place in the batch as it was sent, from 0. */
  readonly position: number;
  readonly application: Application;
  readonly assessment: Assessment;
  readonly messageType: MessageType | null;
}

/** What makes a batch safe to send again (D36). */
export interface Idempotency {
  readonly key: string;
  readonly body: Buffer;
  /** What the answer is rendered from; kept sealed. */
  readonly draft: string;
}

/** The columns of `register_batches`, in its order, after the batch's own number. */
export const COLUMNS = [
  'position', 'turn', 'phone', 'id_number', 'decision', 'message', 'score', 'payment_capacity', 'channel',
  'debt_age_points', 'num_debts_points', 'prior_history_points', 'optin', 'num_debts', 'debt_age',
  'prior_history', 'currency', 'platform', 'income', 'debt_amount',
] as const; // biome-ignore format: one list
type Column = (typeof COLUMNS)[number];

export interface PreparedBatch {
  readonly id: string;
  readonly keyId: number;
  readonly size: number;
  /** What no other batch of the same statement may have: its phones and its Idempotency-Key. */
  readonly claims: readonly string[];
  /** Elements of array literals, joined by commas. */
  readonly columns: Readonly<Record<Column, string>>;
  readonly sealed: readonly Buffer[];
  readonly idempotency: {
    readonly digest: string;
    readonly bodyDigest: string;
    readonly draft: Buffer;
  } | null;
}

const SEALED_FIELDS = (FIELDS as readonly Field[])
  .filter((field) => field.column !== true)
  .map((field) => field.name as keyof Application);

/** Seals the personal data of each candidate and makes its blind indexes. */
export function prepareBatch(
  vault: Vault,
  keyId: number,
  candidates: readonly Candidate[],
  idempotency: Idempotency | null,
): PreparedBatch {
  const id = uuidv7();
  const columns = Object.fromEntries(COLUMNS.map((column) => [column, ''])) as Record<Column, string>;
  const sealed: Buffer[] = [];
  const turns = new Map<string, 0 | 2>();
  const add = (column: Column, text: string | number | boolean) => {
    columns[column] += columns[column] === '' ? text : `,${text}`;
  };
  for (const { position, application, assessment, messageType } of candidates) {
    const { points } = assessment;
    const phone = application.phone === null ? null : vault.blindIndex('phone', foldPhone(application.phone));
    add('position', position);
    add('turn', phone === null ? 1 : (turns.get(phone) ?? 1));
    add('phone', phone ?? 'NULL');
    add('id_number', vault.blindIndex('id_number', application.id_number));
    add('decision', assessment.decision);
    add('message', messageType ?? 'NULL');
    add('score', assessment.score);
    add('payment_capacity', points.payment_capacity);
    add('channel', points.channel);
    add('debt_age_points', points.debt_age);
    add('num_debts_points', points.num_debts);
    add('prior_history_points', points.prior_history);
    add('optin', application.messaging_optin);
    add('num_debts', application.num_debts);
    add('debt_age', application.debt_age);
    add('prior_history', application.prior_history);
    add('currency', application.currency);
    add('platform', quoted(application.platform));
    add('income', application.income);
    add('debt_amount', application.debt_amount);
    sealed.push(vault.seal(sealedText(application), recordIdentity(id, position)));
    if (phone !== null) {
      const open = assessment.decision !== 'rejected' || turns.get(phone) === 0;
      turns.set(phone, open ? 0 : 2);
    }
  }
  const remembered = idempotency === null ? null : remember(vault, keyId, idempotency);
  const claims = [...turns.keys()];
  if (remembered !== null) claims.push(`${keyId} ${remembered.digest}`);
  return { id, keyId, size: candidates.length, claims, columns, sealed, idempotency: remembered };
}

/** What a sealed record is bound to. */
export function recordIdentity(batchId: string, position: number): string {
  return `${batchId}:${position}`;
}

/** What the draft of a remembered answer is bound to. */
export function draftIdentity(keyId: number, digest: string): string {
  return `draft:${keyId}:${digest}`;
}

function sealedText(application: Application): string {
  const record: Partial<Record<keyof Application, unknown>> = {};
  for (const name of SEALED_FIELDS) record[name] = application[name];
  return JSON.stringify(record);
}

function remember(vault: Vault, keyId: number, { key, body, draft }: Idempotency) {
  const digest = vault.blindIndex('idempotency_key', key);
  return {
    digest,
    bodyDigest: vault.bodyDigest(body),
    draft: vault.seal(draft, draftIdentity(keyId, digest)),
  };
}
