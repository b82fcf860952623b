/** The business in numbers, a period at a time. */
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { BehindReply, BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import type { Listed } from '../../../src/subjects/business/rules/behind.ts';
import { ask, type Reply } from './ask.ts';

/** The upkeep counts every 15 seconds. */
const POLL_MS = 30_000;

/** What the address asks for, as the names and values of the route. */
export type BusinessFilters = Readonly<Record<string, string>>;

/** The numbers before stay until those of another period are there. */
export function useBusiness(filters: BusinessFilters): UseQueryResult<Reply<BusinessPeriodReply>> {
  const query = `${new URLSearchParams(filters)}`;
  return useQuery({
    queryKey: ['business', query],
    queryFn: () => ask<BusinessPeriodReply>('GET', `/business/period?${query}`),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
}

/** A page of the applications behind a number. */
export function useBehind(
  number: Listed,
  filters: BusinessFilters,
  cursor: string | null,
): UseQueryResult<Reply<BehindReply>> {
  const query = `${new URLSearchParams({ ...filters, number, ...(cursor !== null && { cursor }) })}`;
  return useQuery({
    queryKey: ['business behind', query],
    queryFn: () => ask<BehindReply>('GET', `/business/applications?${query}`),
  });
}
