/** A batch made ready for the registering statement: sealed, and with blind indexes. */
import { v7 as uuidv7 } from 'uuid';
import { type Application, FIELDS, type Field } from '../domain/fields.ts';
import type { MessageType } from '../domain/notify.ts';
import { foldPhone } from '../domain/phone.ts';
import type { Assessment } from '../domain/scorecard.ts';
import type { Vault } from './vault.ts';

export interface Candidate {
  /** Place in the batch as it was sent, from 0. */
  readonly position: number;
  readonly application: Application;
  readonly assessment: Assessment;
  readonly messageType: MessageType | null;
}

export interface PreparedCandidate extends Candidate {
  /** Blind indexes: 32 hex digits. */
  readonly phoneIndex: string | null;
  readonly idNumberIndex: string;
  /** True where an earlier candidate of the batch has the same phone and comes out open (D17). */
  readonly followsOpen: boolean;
  readonly sealed: Buffer;
}

/** What makes a batch safe to send again (D36). */
export interface Idempotency {
  readonly key: string;
  readonly body: Buffer;
  /** What the answer is rendered from; kept sealed. */
  readonly draft: string;
}

export interface PreparedBatch {
  readonly id: string;
  readonly keyId: number;
  readonly candidates: readonly PreparedCandidate[];
  /** What no other batch of the same statement may have: its phones and its Idempotency-Key. */
  readonly claims: readonly string[];
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
  const phones = new Set<string>();
  const openPhones = new Set<string>();
  const prepared = candidates.map((candidate): PreparedCandidate => {
    const { position, application, assessment, messageType } = candidate;
    const phoneIndex =
      application.phone === null ? null : vault.blindIndex('phone', foldPhone(application.phone));
    const followsOpen = phoneIndex !== null && openPhones.has(phoneIndex);
    if (phoneIndex !== null) {
      phones.add(phoneIndex);
      if (assessment.decision !== 'rejected') openPhones.add(phoneIndex);
    }
    return {
      position,
      application,
      assessment,
      messageType,
      phoneIndex,
      idNumberIndex: vault.blindIndex('id_number', application.id_number),
      followsOpen,
      sealed: vault.seal(sealedText(application), recordIdentity(id, position)),
    };
  });
  const remembered = idempotency === null ? null : remember(vault, keyId, idempotency);
  const claims = [...phones];
  if (remembered !== null) claims.push(`${keyId} ${remembered.digest}`);
  return { id, keyId, candidates: prepared, claims, idempotency: remembered };
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
