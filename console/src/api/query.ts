/** How the page asks again. Polls stop while the tab is hidden. */
import { type DefaultError, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { AnswerError } from './ask.ts';
import { readSession, SESSION_KEY } from './session.ts';

const RETRIES = 2;

/** Only a failure that may pass is asked again. */
function mayPass(error: DefaultError): boolean {
  return error instanceof AnswerError && (error.status === 0 || error.status >= 500);
}

/** The memory of what was read. Where an answer says that the session ended, the page becomes the sign-in. */
export function newQueries(): QueryClient {
  const onError = async (error: DefaultError) => {
    if (!(error instanceof AnswerError) || error.status !== 401) return;
    // Another tab may have signed in again meanwhile: then this request came with the cookie before.
    const operator = await readSession().catch(() => undefined);
    if (operator === null) forget(queries);
    else await queries.invalidateQueries();
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: (failures, error) => failures < RETRIES && mayPass(error), staleTime: 1_000 },
      mutations: { retry: false },
    },
  });
  return queries;
}

/** Forgets who is signed in and all that the operator has read: nothing of it may stay for the next one. */
export function forget(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
  queries.setQueryData(SESSION_KEY, null);
}
