/** What a partner asked lately, as operators and the partner itself read it (docs/operators.md, "Requests"). */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { readRequests, type StoredRequest } from '../sql/requests.ts';
import { requirePartner } from './partners.ts';

export type { StoredRequest };

export interface RequestQuery {
  /** The X-Request-Id of one request; absent: all. */
  readonly requestId?: string | undefined;
  /** The id before which the page begins; null: the newest ones. */
  readonly before: string | null;
  readonly limit: number;
}

/**
 * A page of the partner's requests, the newest first. The next page begins before the id `next`; null: this is the
 * last one. Throws `OperatorError` if there is no such partner.
 */
export async function listRequests(
  { database }: Pick<OperatorContext, 'database'>,
  partnerId: PartnerId,
  { requestId, before, limit }: RequestQuery,
): Promise<{ requests: StoredRequest[]; next: string | null }> {
  await requirePartner({ database }, partnerId);
  const found = await readRequests(database, partnerId, {
    before,
    only: requestId ?? null,
    limit: limit + 1,
  });
  const requests = found.slice(0, limit);
  return { requests, next: found.length > limit ? requests.at(-1)!.requestId : null };
}
