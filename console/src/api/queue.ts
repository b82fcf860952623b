/** The queue of applications in review, and the claims on them. */
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type {
  ClaimedReply,
  QueuePartnersReply,
  QueueReply,
  Selection,
} from '../../../src/subjects/desk/routes/queue-forms.ts';
import type { PageClock } from '../clock.ts';
import { act } from './act.ts';
import { ask, asOperator, type Request } from './ask.ts';
import type { Filters } from './filters.ts';
import { changePage, forPage } from './page-id.ts';
import { presence } from './presence.ts';
import { type Reading, reading } from './read.ts';

export type SelectionReply = Static<typeof Selection>;

const POLL_MS = 4_000;
const PARTNERS_KEPT_MS = 300_000;
/** The sign-out waits for it. What is not given back ends with its lease. */
const GIVE_BACK_WITHIN_MS = 3_000;

/** A page of the queue, asked for again every four seconds while the tab is shown. `query` is that of the address. */
export function useQueue(query: string): UseQueryResult<Reading<QueueReply>> {
  const path = query === '' ? '/review-queue' : `/review-queue?${query}`;
  return useQuery({
    ...reading<QueueReply>(useQueryClient(), ['queue', query], path),
    refetchInterval: POLL_MS,
    placeholderData: (known) => known,
  });
}

/** The partners by which the queue can be narrowed, by name. Few come in a day. */
export function useQueuePartners(): QueuePartnersReply['partners'] {
  const { data } = useQuery({
    queryKey: ['queue partners'],
    queryFn: async () => (await ask<QueuePartnersReply>('GET', '/review-queue/partners')).body.partners,
    staleTime: PARTNERS_KEPT_MS,
  });
  return data ?? [];
}

/**
 * Claims the next free application within the filters; its id is null where nothing is free. With the same `key` it
 * claims one.
 */
export async function claimNext(filters: Filters, key: string): Promise<ClaimedReply> {
  return (await act<ClaimedReply>(...nextClaim(filters, key))).body;
}

/** The same where nobody asked for it: an ended session refuses it, and nothing waits for a sign-in. */
export async function claimAhead(filters: Filters, key: string): Promise<ClaimedReply> {
  return (await ask<ClaimedReply>(...nextClaim(filters, key))).body;
}

function nextClaim(filters: Filters, key: string): Request {
  return ['POST', '/review-queue/claim-next', filters, { 'Idempotency-Key': key, ...forPage() }];
}

/** Claims an application for `page`, or renews one's own claim. 409: another operator holds it, as the body says. */
export async function claim(id: number, page: ReturnType<typeof forPage>): Promise<ClaimedReply> {
  return (await ask<ClaimedReply>('POST', `/applications/${id}/claim`, {}, page)).body;
}

/** Gives an application back that the operator holds. */
export function release(clock: PageClock, id: number, operator: number): Promise<void> {
  return giveBack(clock, `/applications/${id}/release`, operator, forPage());
}

/** Gives everything back that was claimed for the page, also what is still on its way. The page is another one then. */
export async function leave(clock: PageClock, operator: number): Promise<void> {
  const page = changePage();
  if (page !== null) await giveBack(clock, '/review-queue/leave', operator, page);
}

/** The request outlives the page, which may show somebody else by then; its answer changes nothing. */
async function giveBack(
  clock: PageClock,
  path: string,
  operator: number,
  page: ReturnType<typeof forPage>,
): Promise<void> {
  await fetch(`/api${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...asOperator(operator), ...presence(), ...page },
    body: '{}',
    keepalive: true,
    signal: clock.timeout(GIVE_BACK_WITHIN_MS),
  }).catch(() => undefined);
}

/** Freezes what matches the filters now. */
export async function freeze({ order: _, ...filter }: Filters): Promise<SelectionReply> {
  return (await act<SelectionReply>('POST', '/review-queue/selections', filter)).body;
}
