/** The operators with their sessions, and whether the service is well. */
import {
  type QueryClient,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import type { HealthHistoryReply, HealthReply } from '../../../src/subjects/monitoring/routes/health.ts';
import type { OperatorsReply, OwnSessionsReply } from '../../../src/subjects/operators/routes/operators.ts';
import { act } from './act.ts';
import { ask, type Reply } from './ask.ts';

const POLL_MS = 15_000;
const OPERATORS_KEY = ['operators'];

export function useHealth(): UseQueryResult<Reply<HealthReply>> {
  return useQuery({
    queryKey: ['health'],
    queryFn: () => ask<HealthReply>('GET', '/health'),
    refetchInterval: POLL_MS,
  });
}

/** The pages of ended troubles that were asked for. */
export function useHealthHistory(): UseInfiniteQueryResult<{
  readonly pages: readonly Reply<HealthHistoryReply>[];
}> {
  return useInfiniteQuery({
    queryKey: ['health history'],
    queryFn: ({ pageParam }) =>
      ask<HealthHistoryReply>('GET', `/health/history?limit=20${pageParam && `&cursor=${pageParam}`}`),
    initialPageParam: '',
    getNextPageParam: ({ body }) => body.next,
    refetchInterval: POLL_MS,
  });
}

export function useOperators(): UseQueryResult<Reply<OperatorsReply>> {
  return useQuery({
    queryKey: OPERATORS_KEY,
    queryFn: () => ask<OperatorsReply>('GET', '/operators'),
    refetchInterval: POLL_MS,
  });
}

const SESSIONS_KEY = ['own sessions'];

export function useOwnSessions(): UseQueryResult<Reply<OwnSessionsReply>> {
  return useQuery({
    queryKey: SESSIONS_KEY,
    queryFn: () => ask<OwnSessionsReply>('GET', '/sessions'),
    refetchInterval: POLL_MS,
  });
}

/** Ends an own session, as `endSession`. */
export async function endOwnSession(queries: QueryClient, session: string): Promise<void> {
  try {
    await act('DELETE', `/sessions/${session}`);
  } finally {
    await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
  }
}

/** Ends a session of an operator. Where it has ended meanwhile, the list is read again all the same. */
export async function endSession(queries: QueryClient, operatorId: number, session: string): Promise<void> {
  try {
    await act('DELETE', `/operators/${operatorId}/sessions/${session}`);
  } finally {
    await queries.invalidateQueries({ queryKey: OPERATORS_KEY });
  }
}
