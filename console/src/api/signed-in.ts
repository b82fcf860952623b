/** Who is signed in, as the page knows it. */
import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { giveUp } from './act.ts';
import { AnswerError, showOperator } from './ask.ts';
import { type Operator, readSession } from './session.ts';

export const SESSION_KEY = ['session'];

export interface Session {
  /** null: nobody is signed in, and nobody was. */
  readonly operator: Operator | null;
  /** The session of the operator ended by itself: the page keeps what they were at. */
  readonly isOver: boolean;
}

export function useSession(): UseQueryResult<Session> {
  const queries = useQueryClient();
  return useQuery({ queryKey: SESSION_KEY, queryFn: () => readWho(queries), staleTime: 60_000 });
}

async function readWho(queries: QueryClient): Promise<Session> {
  const operator = await readSession();
  const known = queries.getQueryData<Session>(SESSION_KEY)?.operator ?? null;
  if (operator === null) return { operator: known, isOver: known !== null };
  if (known !== null && known.id !== operator.id) forgetRead(queries);
  showOperator(operator.id);
  return { operator, isOver: false };
}

/**
 * Signs out by `end`, also where the session had ended. Where the browser's session is another operator's by now, that
 * one stays signed in, and the page shows them.
 */
export async function leave(queries: QueryClient, end: () => Promise<void>): Promise<void> {
  const isRefused = await end().then(
    () => false,
    (error) => {
      if (!(error instanceof AnswerError) || error.status !== 401) throw error;
      return true;
    },
  );
  await forget(queries);
  if (isRefused) await queries.refetchQueries({ queryKey: SESSION_KEY });
}

/** Forgets who was signed in and all that the operator did and read: nothing of it may stay for the next one. */
export async function forget(queries: QueryClient): Promise<void> {
  forgetRead(queries);
  showOperator(null);
  await queries.cancelQueries({ queryKey: SESSION_KEY });
  queries.setQueryData<Session>(SESSION_KEY, { operator: null, isOver: false });
}

function forgetRead(queries: QueryClient): void {
  giveUp();
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
