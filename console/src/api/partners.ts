/** The partners with their keys, and what an admin does with them. */
import {
  keepPreviousData,
  type QueryClient,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import type { Brand } from '../../../src/domain/partner/brand.ts';
import type { DeliveriesReply } from '../../../src/subjects/events/push/routes/endpoint.ts';
import type { BrandLookReply, BrandReply } from '../../../src/subjects/partners/routes/brand.ts';
import type {
  IssuedKeyReply,
  PartnerReply,
  PartnersReply,
  RefusalsReply,
} from '../../../src/subjects/partners/routes/forms.ts';
import type { RequestsReply } from '../../../src/subjects/partners/routes/request-forms.ts';
import { act } from './act.ts';
import { ask, type Reply } from './ask.ts';

const POLL_MS = 15_000;
const PARTNERS_KEY = ['partners'];
const keyOf = (id: string, ...part: string[]) => [...PARTNERS_KEY, id, ...part];

interface Pages<Body> {
  readonly pages: readonly Reply<Body>[];
}

/** The pages of the list that were asked for. */
export function usePartners(): UseInfiniteQueryResult<Pages<PartnersReply>> {
  return useInfiniteQuery({
    queryKey: PARTNERS_KEY,
    queryFn: ({ pageParam }) => ask<PartnersReply>('GET', `/partners${pageParam && `?cursor=${pageParam}`}`),
    initialPageParam: '',
    getNextPageParam: ({ body }) => body.next,
    refetchInterval: POLL_MS,
  });
}

export function usePartner(id: string): UseQueryResult<Reply<PartnerReply>> {
  return useQuery({
    queryKey: keyOf(id),
    queryFn: () => ask<PartnerReply>('GET', `/partners/${id}`),
    refetchInterval: POLL_MS,
  });
}

export function useRefusals(id: string): UseQueryResult<Reply<RefusalsReply>> {
  return useQuery({
    queryKey: keyOf(id, 'refusals'),
    queryFn: () => ask<RefusalsReply>('GET', `/partners/${id}/refusals`),
    refetchInterval: POLL_MS,
  });
}

/** The endpoint, what waits for it, and the newest attempts; `eventId`: of one event alone. */
export function useDeliveries(id: string, eventId = ''): UseQueryResult<Reply<DeliveriesReply>> {
  const query = eventId && `?${new URLSearchParams({ event_id: eventId })}`;
  return useQuery({
    queryKey: keyOf(id, 'deliveries', eventId),
    queryFn: () => ask<DeliveriesReply>('GET', `/partners/${id}/deliveries${query}`),
    refetchInterval: POLL_MS,
  });
}

const brandPath = (partner: string, key: string) => `/partners/${partner}/keys/${key}/brand`;

/** The brand of a key. It is read once, because a form changes it. */
export function useBrand(partner: string, key: string): UseQueryResult<Reply<BrandReply>> {
  return useQuery({
    queryKey: keyOf(partner, 'brand', key),
    queryFn: () => ask<BrandReply>('GET', brandPath(partner, key)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The faults of a brand that is not stored, or its messages. Those of the brand before stay until they come. */
export function useBrandLook(
  partner: string,
  key: string,
  brand: Brand,
): UseQueryResult<Reply<BrandLookReply>> {
  return useQuery({
    queryKey: ['brand look', partner, key, brand],
    queryFn: () => ask<BrandLookReply>('POST', `${brandPath(partner, key)}/look`, { brand }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
}

/** Gives a key another brand in the place of `was`. */
export async function saveBrand(partner: string, key: string, brand: Brand, was: Brand): Promise<BrandReply> {
  return (await act<BrandReply>('PUT', brandPath(partner, key), { brand, was })).body;
}

/**
 * The pages of requests that were asked for, or one request. `path`: of the partner's requests, which are at another
 * place in the portal.
 */
export function useRequests(path: string, requestId: string): UseInfiniteQueryResult<Pages<RequestsReply>> {
  return useInfiniteQuery({
    queryKey: ['partner requests', path, requestId],
    queryFn: ({ pageParam }) => {
      const query = {
        limit: '50',
        ...(requestId && { request_id: requestId }),
        ...(pageParam && { cursor: pageParam }),
      };
      return ask<RequestsReply>('GET', `${path}?${new URLSearchParams(query)}`);
    },
    initialPageParam: '',
    getNextPageParam: ({ body }) => body.next,
  });
}

/** Does something with a partner or its keys. Whatever came of it, what is shown is read again. */
export async function actOnPartner<Body>(
  queries: QueryClient,
  path: string,
  body: object = {},
): Promise<Body> {
  try {
    return (await act<Body>('POST', `/partners${path}`, body)).body;
  } finally {
    await queries.invalidateQueries({ queryKey: PARTNERS_KEY });
  }
}

export type ShownKey = PartnerReply['keys'][number];
export type MadeKey = Pick<IssuedKeyReply, 'id' | 'api_key'>;
