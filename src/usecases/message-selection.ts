/** Retrying and cancelling many messages at once. */
import {
  changeSelection,
  countSelection,
  DEED_STATUSES,
  type Deed,
  type DeedStatus,
  type SelectionCount,
} from '../storage/message-selection.ts';
import type { OperatorContext } from './operator-context.ts';
import { requirePartner } from './partners.ts';

export { DEED_STATUSES, type Deed, type DeedStatus };

/** Which messages; absent: any. */
export interface DeedFilter {
  readonly status?: DeedStatus | undefined;
  readonly reason?: string | undefined;
  readonly partner?: number | undefined;
}

export interface DeedCount extends SelectionCount {
  readonly status: DeedStatus;
}

/**
 * Retries or cancels the messages that fit, or, where `apply` is false, only counts them; by state, without those that
 * have none. Throws `OperatorError` where there is no such partner.
 */
export async function changeMessages(
  context: OperatorContext,
  deed: Deed,
  filter: DeedFilter,
  apply: boolean,
): Promise<DeedCount[]> {
  const { database } = context;
  if (filter.partner !== undefined) await requirePartner(context, filter.partner);
  const statuses = filter.status === undefined ? DEED_STATUSES[deed] : [filter.status];
  const counts: DeedCount[] = [];
  for (const status of statuses) {
    const selection = { status, reason: filter.reason ?? null, partnerId: filter.partner ?? null };
    const count = await (apply
      ? changeSelection(database, deed, selection)
      : countSelection(database, selection));
    if (count.ready + count.early > 0) counts.push({ status, ...count });
  }
  return counts;
}
