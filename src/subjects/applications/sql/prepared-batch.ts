/**
 * Prepares a batch for the registering statement: seals it, makes its blind indexes, and encodes the facts of its
 * applications. Pure but for random bytes. ARCHITECTURE, "A request's way" (6), has the rule.
 */
import { v7 as uuidv7 } from 'uuid';
import {
  type Application,
  DEBT_AGES,
  type DebtAge,
  NUM_DEBTS,
  type NumDebts,
  PRIOR_HISTORIES,
  type PriorHistory,
} from '../../../domain/application/fields.ts';
import type { BlindIndex } from '../../../domain/application/ids.ts';
import type { OutcomeType } from '../../../domain/message/notify.ts';
import type { KeyId } from '../../../domain/partner/credential.ts';
import { type Assessment, CRITERIA, DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { randomBytes, type Vault } from '../../../seal/vault.ts';
import { sealEnvelope } from './envelope.ts';

// The facts of a batch: what is stored about its applications beside the sealed data, 28 bytes a position, in the form
// that `application_at` (sql/functions/applications/read.sql) reads.

/** Bytes of one position. */
export const FACT_BYTES = 28;
/** Bytes of the facts of a batch with the most positions. */
export const FACTS_BYTES = 128 * FACT_BYTES;
/** Where each fact begins in its position. */
export const FACT_OFFSETS = {
  score: 0,
  points: 1,
  codes: 6,
  platform: 7,
  currency: 8,
  income: 12,
  debtAmount: 20,
} as const;

/** An application of a batch that may be registered. */
export interface Candidate {
  /** The position in the batch as it was sent, from 0. */
  readonly position: number;
  readonly application: Application;
  readonly assessment: Assessment;
  readonly messageType: OutcomeType | null;
}

interface Facts {
  readonly bytes: Buffer;
  /** The platforms that occur, one a line. */
  readonly platforms: string;
}

/** The facts of `positions` positions; a position without a candidate is zero. */
function encodeFacts(candidates: readonly Candidate[], positions: number): Facts {
  const bytes = Buffer.alloc(positions * FACT_BYTES);
  const platforms: string[] = [];
  for (const { position, application, assessment } of candidates) {
    const start = position * FACT_BYTES;
    let code = platforms.indexOf(application.platform);
    if (code === -1) code = platforms.push(application.platform) - 1;
    bytes[start + FACT_OFFSETS.score] = assessment.score;
    for (let index = 0; index < CRITERIA.length; index += 1) {
      bytes[start + FACT_OFFSETS.points + index] =
        assessment.points[CRITERIA[index] as keyof typeof assessment.points];
    }
    bytes[start + FACT_OFFSETS.codes] =
      DECISION_CODES[assessment.decision] |
      (application.messaging_optin ? 1 << 2 : 0) |
      PRIOR_HISTORY_CODES[application.prior_history] |
      NUM_DEBTS_CODES[application.num_debts] |
      DEBT_AGE_CODES[application.debt_age];
    bytes[start + FACT_OFFSETS.platform] = code;
    for (let index = 0; index < 3; index += 1) {
      bytes[start + FACT_OFFSETS.currency + index] = application.currency.charCodeAt(index);
    }
    bytes.writeDoubleBE(application.income, start + FACT_OFFSETS.income);
    bytes.writeDoubleBE(application.debt_amount, start + FACT_OFFSETS.debtAmount);
  }
  return { bytes, platforms: platforms.join('\n') };
}

/** The debt that an application's message names; null if the facts end before the position. */
export function moneyAt(bytes: Buffer, position: number): { debtAmount: number; currency: string } | null {
  const start = position * FACT_BYTES;
  if (bytes.length < start + FACT_BYTES) return null;
  const currency = start + FACT_OFFSETS.currency;
  return {
    debtAmount: bytes.readDoubleBE(start + FACT_OFFSETS.debtAmount),
    currency: bytes.toString('latin1', currency, currency + 3),
  };
}

/** The index of each value in its list, moved to its bits. */
function codes<T extends string>(values: readonly T[], bit: number): Readonly<Record<T, number>> {
  return Object.fromEntries(values.map((value, code) => [value, code << bit])) as Record<T, number>;
}

const DECISION_CODES = codes<Decision>(DECISIONS, 0);
const PRIOR_HISTORY_CODES = codes<PriorHistory>(PRIOR_HISTORIES, 3);
const NUM_DEBTS_CODES = codes<NumDebts>(NUM_DEBTS, 4);
const DEBT_AGE_CODES = codes<DebtAge>(DEBT_AGES, 6);

/** The number of random bytes that the library takes. */
const UUID_RANDOM_BYTES = 16;

export interface PreparedCandidate extends Candidate {
  readonly phoneIndex: BlindIndex<'phone'> | null;
  readonly idNumberIndex: BlindIndex<'id_number'>;
  /** True if an earlier candidate of the batch has the same phone and would be open (D17). */
  readonly followsOpen: boolean;
}

/** What is remembered about a batch with an Idempotency-Key, so that it is safe to send again (D36). */
interface Idempotency {
  readonly key: string;
  readonly body: Buffer;
  /** What the answer is made from again (`draft.ts`). */
  readonly draft: Buffer;
}

export interface PreparedBatch {
  readonly id: string;
  /** The stored policy that scored the candidates. */
  readonly policyId: number;
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
  { keyId, policyId }: Pick<PreparedBatch, 'keyId' | 'policyId'>,
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
    policyId,
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
