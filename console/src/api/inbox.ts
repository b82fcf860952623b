/** The inbox: who waits for a person, and what an operator does about it. */
import {
  type QueryClient,
  type UseQueryResult,
  useIsMutating,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Step } from '../../../src/domain/conversation/places.ts';
import type {
  ClaimedConversationReply,
  InboxConversationReply,
  InboxReply,
} from '../../../src/subjects/desk/routes/inbox-forms.ts';
import type { PageClock } from '../clock.ts';
import { act } from './act.ts';
import { ask, asOperator } from './ask.ts';
import { forPage } from './page-id.ts';
import { presence } from './presence.ts';
import { type Reading, reading } from './read.ts';

export type InboxState = 'waiting' | 'answered';

/** A message of an applicant is on the page within two seconds. */
const POLL_MS = 1_500;
const RENEW_MS = 15_000;
const GIVE_BACK_WITHIN_MS = 3_000;

/** A page of the inbox, asked for again while the tab is shown. */
export function useInbox(state: InboxState, cursor: string | null): UseQueryResult<Reading<InboxReply>> {
  const query = new URLSearchParams({ state, ...(cursor !== null && { cursor }) });
  return useQuery({
    ...reading<InboxReply>(useQueryClient(), ['inbox', String(query)], `/inbox?${query}`),
    refetchInterval: POLL_MS,
  });
}

/** It stands on every page. */
const BESIDE_POLL_MS = 15_000;

/** How many persons wait. */
export function useWaiting(): number {
  const { data } = useQuery({
    ...reading<InboxReply>(useQueryClient(), ['inbox', 'waiting'], '/inbox?limit=1'),
    refetchInterval: BESIDE_POLL_MS,
  });
  return data?.body.waiting ?? 0;
}

/** One conversation, asked for again while the tab is shown. */
export function useConversation(id: string): UseQueryResult<Reading<InboxConversationReply>> {
  return useQuery({
    ...reading<InboxConversationReply>(useQueryClient(), ['conversation', id], `/conversations/${id}`),
    refetchInterval: POLL_MS,
  });
}

const claimOf = (id: string) => ['conversation claim', id];

/** The key of what an operator does with a conversation. */
export const inboxActOf = (id: string) => ['inbox act', id];

/**
 * Claims the conversation for the page and renews the claim while the tab is shown. 409: another operator has it. An act
 * may give it back, so nothing is renewed beside an act.
 */
export function useConversationClaim(id: string, isWanted: boolean) {
  const isActing = useIsMutating({ mutationKey: inboxActOf(id) }) > 0;
  return useQuery({
    queryKey: claimOf(id),
    queryFn: async () =>
      (await ask<ClaimedConversationReply>('POST', `/conversations/${id}/claim`, {}, forPage())).body,
    enabled: isWanted && !isActing,
    refetchInterval: RENEW_MS,
    retry: false,
    gcTime: 0,
  });
}

/** Waits for a renewal that is under way. */
export async function claimRenewed(queries: QueryClient, id: string): Promise<void> {
  await queries
    .getQueryCache()
    .find({ queryKey: claimOf(id) })
    ?.promise?.catch(() => undefined);
}

/** Gives the claim back when its page is left. The request outlives the page; its answer changes nothing. */
export function releaseConversation(clock: PageClock, id: string, operator: number): void {
  void fetch(`/api/conversations/${id}/release`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...asOperator(operator), ...presence(), ...forPage() },
    body: '{}',
    keepalive: true,
    signal: clock.timeout(GIVE_BACK_WITHIN_MS),
  }).catch(() => undefined);
}

/** Claims the next person; null: nobody waits. With the same `key` it claims one. */
export async function claimNextPerson(key: string): Promise<number | null> {
  const headers = { 'Idempotency-Key': key, ...forPage() };
  const { body } = await act<ClaimedConversationReply>('POST', '/inbox/claim-next', {}, headers);
  return body.application_id;
}

/** What an operator does with a conversation. */
export type InboxAct =
  | { readonly act: 'messages'; readonly text: string }
  | { readonly act: 'files'; readonly filename: string; readonly content: string; readonly text: string }
  | { readonly act: 'hand-over' | 'remind' }
  | { readonly act: 'give-back'; readonly step?: Step }
  | { readonly act: 'close'; readonly reason: string };

/** Does it once for each `key`. The page has the conversation as it is then. */
export async function actInInbox(
  queries: QueryClient,
  id: string,
  { act: name, ...body }: InboxAct,
  key: string,
): Promise<InboxConversationReply> {
  const headers = { 'Idempotency-Key': key, ...forPage() };
  const done = await act<InboxConversationReply>('POST', `/conversations/${id}/${name}`, body, headers);
  await Promise.all([
    queries.invalidateQueries({ queryKey: ['conversation', id] }),
    queries.invalidateQueries({ queryKey: ['inbox'] }),
  ]);
  return done.body;
}
