/** The types of what the uses of the desk work with. */
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';

export interface Desk {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** What an act on applications in the queue needs. */
export interface QueueDesk {
  readonly database: Database;
  /** The value of REVIEW_DUE_HOURS. */
  readonly dueHours: number;
}

/** What the rows of the queue are read with. */
export interface ShowingDesk extends QueueDesk {
  readonly vault: Vault;
  /** Reads the loan terms of the day, which price what is asked for. */
  readonly terms: () => Promise<Terms | null>;
}

/** What an act that speaks in a conversation needs, and whatever tells an installment. */
export interface SpeakingDesk extends Desk {
  /** Reads the terms of the day: they price a loan, and a question for the consent names the lender. */
  readonly terms: () => Promise<Terms | null>;
}

/** The desk with the operator's name, as the history and the record of acts have it. */
export function actingAs({ database, vault, clock }: Desk, operatorId: number): OperatorContext {
  return { database, vault, clock, actor: `operator ${operatorId}` };
}
