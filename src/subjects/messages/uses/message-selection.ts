/**
 * Retries or cancels many messages at once, for operators (docs/messages.md, "Uncertain messages").
 * `sql/changes/message-selection.ts` writes.
 */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { requirePartner } from '../../partners/uses/partners.ts';
import { changeSelection, countSelection, type SelectionCount } from '../sql/changes/message-selection.ts';
import {
  CHANGEABLE_STATUSES,
  type ChangeableStatus,
  type MessageChange,
} from '../sql/changes/operator-changes.ts';

export { CHANGEABLE_STATUSES, type ChangeableStatus, type MessageChange };

/** Which messages are changed. An absent part does not narrow them. */
export interface ChangeFilter {
  readonly status?: ChangeableStatus | undefined;
  readonly reason?: string | undefined;
  readonly partner?: PartnerId | undefined;
}

export interface ChangeCount extends SelectionCount {
  readonly status: ChangeableStatus;
}

/**
 * Retries or cancels the messages that fit, or only counts them if `apply` is false. Returns the counts by status,
 * without statuses that no message has. Throws `OperatorError` if there is no such partner.
 */
export async function changeMessages(
  context: OperatorContext,
  change: MessageChange,
  filter: ChangeFilter,
  apply: boolean,
): Promise<ChangeCount[]> {
  const { database } = context;
  if (filter.partner !== undefined) await requirePartner(context, filter.partner);
  const statuses = filter.status === undefined ? CHANGEABLE_STATUSES[change] : [filter.status];
  const counts: ChangeCount[] = [];
  for (const status of statuses) {
    const selection = { status, reason: filter.reason ?? null, partnerId: filter.partner ?? null };
    const count = await (apply
      ? changeSelection(database, change, selection)
      : countSelection(database, selection));
    if (count.ready + count.early > 0) counts.push({ status, ...count });
  }
  return counts;
}
