/** A batch made ready for the registering statement: sealed, with blind indexes and turns. */
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
  /**
   * How it stands to the earlier ones of its batch with the same phone (D17): 1 it is the first or has no
   * phone, 2 all before it come out rejected, 0 one before it is open.
   */
  readonly turn: 0 | 1 | 2;
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
  const turns = new Map<string, 0 | 2>();
  const prepared = candidates.map((candidate): PreparedCandidate => {
    const { position, application, assessment, messageType } = candidate;
    const phoneIndex =
      application.phone === null ? null : vault.blindIndex('phone', foldPhone(application.phone));
    const turn = phoneIndex === null ? 1 : (turns.get(phoneIndex) ?? 1);
    if (phoneIndex !== null) turns.set(phoneIndex, assessment.decision !== 'rejected' || turn === 0 ? 0 : 2);
    return {
      position,
      application,
      assessment,
      messageType,
      phoneIndex,
      idNumberIndex: vault.blindIndex('id_number', application.id_number),
      turn,
      sealed: vault.seal(sealedText(application), recordIdentity(id, position)),
    };
  });
  const remembered = idempotency === null ? null : remember(vault, keyId, idempotency);
  const claims = [...turns.keys()];
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
