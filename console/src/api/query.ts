/** How the page asks again. Polls stop while the tab is hidden. */
import { type DefaultError, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { AnswerError } from './ask.ts';
import { SESSION_KEY, type Session } from './signed-in.ts';

const RETRIES = 2;

/** Only a failure that may pass is asked again. */
function mayPass(error: DefaultError): boolean {
  return error instanceof AnswerError && (error.status === 0 || error.status >= 500);
}

/** The memory of what was read. Where an answer says that the session ended, the page asks whether it did. */
export function newQueries(): QueryClient {
  const onError = async (error: DefaultError) => {
    if (!(error instanceof AnswerError) || error.status !== 401) return;
    await queries.refetchQueries({ queryKey: SESSION_KEY }, { cancelRefetch: false });
    // Another tab may have signed in again meanwhile: then this request came with the cookie before.
    const session = queries.getQueryData<Session>(SESSION_KEY);
    if (session?.operator && !session.isOver) await queries.invalidateQueries();
  };
  const queries = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < RETRIES && mayPass(error),
        staleTime: 1_000,
        // Without a network a request fails and says so, instead of waiting unseen.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  return queries;
}
