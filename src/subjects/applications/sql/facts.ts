/**
 * The facts of a batch: what is stored of its applications beside the sealed data, 28 bytes a position, in the form
 * that `application_at` (sql/functions/applications/read.sql) reads.
 */

import {
  type Application,
  DEBT_AGES,
  type DebtAge,
  NUM_DEBTS,
  type NumDebts,
  PRIOR_HISTORIES,
  type PriorHistory,
} from '../../../domain/application/fields.ts';
import type { OutcomeType } from '../../../domain/message/notify.ts';
import { CRITERIA } from '../../../domain/scorecard/policy.ts';
import { type Assessment, DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';

const BYTES = 28;
/** Bytes of the facts of a batch with the most positions. */
export const FACTS_BYTES = 128 * BYTES;
const OFFSETS = {
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

export interface Facts {
  readonly bytes: Buffer;
  /** The platforms that occur, one a line. */
  readonly platforms: string;
}

/** The facts of `positions` positions; a position without a candidate is zero. */
export function encodeFacts(candidates: readonly Candidate[], positions: number): Facts {
  const bytes = Buffer.alloc(positions * BYTES);
  const platforms: string[] = [];
  for (const { position, application, assessment } of candidates) {
    const start = position * BYTES;
    let code = platforms.indexOf(application.platform);
    if (code === -1) code = platforms.push(application.platform) - 1;
    bytes[start + OFFSETS.score] = assessment.score;
    for (let index = 0; index < CRITERIA.length; index += 1) {
      bytes[start + OFFSETS.points + index] =
        assessment.points[CRITERIA[index] as keyof typeof assessment.points];
    }
    bytes[start + OFFSETS.codes] =
      DECISION_CODES[assessment.decision] |
      (application.messaging_optin ? 1 << 2 : 0) |
      PRIOR_HISTORY_CODES[application.prior_history] |
      NUM_DEBTS_CODES[application.num_debts] |
      DEBT_AGE_CODES[application.debt_age];
    bytes[start + OFFSETS.platform] = code;
    for (let index = 0; index < 3; index += 1) {
      bytes[start + OFFSETS.currency + index] = application.currency.charCodeAt(index);
    }
    bytes.writeDoubleBE(application.income, start + OFFSETS.income);
    bytes.writeDoubleBE(application.debt_amount, start + OFFSETS.debtAmount);
  }
  return { bytes, platforms: platforms.join('\n') };
}

/** The debt that an application's message tells; null if the facts end before the position. */
export function moneyAt(bytes: Buffer, position: number): { debtAmount: number; currency: string } | null {
  const start = position * BYTES;
  if (bytes.length < start + BYTES) return null;
  const currency = start + OFFSETS.currency;
  return {
    debtAmount: bytes.readDoubleBE(start + OFFSETS.debtAmount),
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
