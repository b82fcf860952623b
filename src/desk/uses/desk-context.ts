/** What the uses of the desk work with. */
import type { OperatorContext } from '../../operations/operator-context.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';

export interface Desk {
  readonly database: Database;
  readonly vault: Vault;
}

/** What an act on applications of the queue needs. */
export interface QueueDesk {
  readonly database: Database;
  /** REVIEW_DUE_HOURS. */
  readonly dueHours: number;
}

/** The desk with its operator, as the history and the record of acts name one. */
export function actingAs({ database, vault }: Desk, operatorId: number): OperatorContext {
  return { database, vault, actor: `operator ${operatorId}` };
}
