/** A batch made ready for the registering statement: sealed, and with blind indexes. */

import { v7 as uuidv7 } from 'uuid';
import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { KeyId } from '../../../domain/partner/credential.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { randomBytes } from '../../../seal/random-bytes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { sealEnvelope } from './envelope.ts';
import { type Candidate, encodeFacts, type Facts } from './facts.ts';

/** The number of random bytes that the library takes. */
const UUID_RANDOM_BYTES = 16;

export interface PreparedCandidate extends Candidate {
  readonly phoneIndex: BlindIndex<'phone'> | null;
  readonly idNumberIndex: BlindIndex<'id_number'>;
  /** True if an earlier candidate of the batch has the same phone and comes out open (D17). */
  readonly followsOpen: boolean;
}

/** What is remembered of a batch with an Idempotency-Key, so that it is safe to send again (D36). */
interface Idempotency {
  readonly key: string;
  readonly body: Buffer;
  /** What the answer is made from again (`draft.ts`). */
  readonly draft: Buffer;
}

export interface PreparedBatch {
  readonly id: string;
  readonly keyId: KeyId;
  readonly candidates: readonly PreparedCandidate[];
  /** The number of positions up to the last candidate. */
  readonly positions: number;
  readonly facts: Facts;
  /** The personal data of the candidates; null without candidates. */
  readonly envelope: Buffer | null;
  /** Two batches of one statement may not share any of these: phones and the Idempotency-Key. */
  readonly conflictKeys: readonly string[];
  readonly idempotency: {
    readonly digest: string;
    readonly bodyDigest: string;
    readonly draft: Buffer;
  } | null;
}

/** Seals the personal data of the candidates and makes their blind indexes. */
export function prepareBatch(
  vault: Vault,
  keyId: KeyId,
  candidates: readonly Candidate[],
  idempotency: Idempotency | null,
): PreparedBatch {
  const id = uuidv7({ random: randomBytes(UUID_RANDOM_BYTES) });
  const phones = new Set<string>();
  const openPhones = new Set<string>();
  const prepared = candidates.map((candidate): PreparedCandidate => {
    const { application, assessment } = candidate;
    const phoneIndex = application.phone === null ? null : phoneIndexOf(vault, application.phone);
    const followsOpen = phoneIndex !== null && openPhones.has(phoneIndex);
    if (phoneIndex !== null) {
      phones.add(phoneIndex);
      if (assessment.decision !== 'rejected') openPhones.add(phoneIndex);
    }
    return {
      ...candidate,
      phoneIndex,
      idNumberIndex: idNumberIndexOf(vault, application.id_number),
      followsOpen,
    };
  });
  const remembered = idempotency === null ? null : remember(vault, idempotency);
  const conflictKeys = [...phones];
  if (remembered !== null) conflictKeys.push(`${keyId} ${remembered.digest}`);
  const envelope = candidates.length === 0 ? null : sealEnvelope(vault, id, candidates);
  const positions = 1 + (candidates.at(-1)?.position ?? -1);
  const facts = encodeFacts(candidates, positions);
  return {
    id,
    keyId,
    candidates: prepared,
    positions,
    facts,
    envelope,
    conflictKeys,
    idempotency: remembered,
  };
}

function remember(vault: Vault, { key, body, draft }: Idempotency) {
  return { digest: vault.blindIndex('idempotency_key', key), bodyDigest: vault.bodyDigest(body), draft };
}
