/** The policies: versions, drafts, proposals, and what the last days' applications say of them. */
import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import type {
  DifferenceReply,
  HistoryReply,
  TrialsReply,
  WatchReply,
} from '../../../src/subjects/evaluation/routes/forms.ts';
import type {
  CardReply,
  DraftReply,
  FindingReply,
  PoliciesReply,
  ProposalReply,
} from '../../../src/subjects/policies/routes/forms.ts';
import { act } from './act.ts';
import { ask, type Reply } from './ask.ts';
import { type Reading, reading } from './read.ts';

const POLL_MS = 5_000;
/** A count that is not over is asked for again. */
const COUNTING_MS = 1_000;
const KEPT_MS = 60_000;
const KEY = 'policies';

export function usePolicies(): UseQueryResult<Reading<PoliciesReply>> {
  return useQuery({
    ...reading<PoliciesReply>(useQueryClient(), [KEY, 'all'], '/policies'),
    refetchInterval: POLL_MS,
  });
}

export function useCard(version: string | null): UseQueryResult<Reply<CardReply>> {
  return useQuery({
    queryKey: [KEY, 'card', version],
    queryFn: () => ask<CardReply>('GET', `/policies/version?version=${encodeURIComponent(version ?? '')}`),
    enabled: version !== null,
  });
}

export function useHistory(version: string | null): UseQueryResult<Reply<HistoryReply>> {
  return useCounted<HistoryReply>(
    ['history', version],
    version === null ? null : `/policies/history?version=${encodeURIComponent(version)}`,
  );
}

export function useDifference(
  before: string | null,
  after: string | null,
): UseQueryResult<Reply<DifferenceReply>> {
  return useCounted<DifferenceReply>(
    ['difference', before, after],
    before === null || after === null
      ? null
      : `/policies/difference?${new URLSearchParams({ before, after })}`,
  );
}

export function useWatch(): UseQueryResult<Reply<WatchReply>> {
  return useCounted<WatchReply>(['watch'], '/policies/watch');
}

/** The backtests and shadows; asked for more often while a backtest runs. */
export function useTrials(version: string): UseQueryResult<Reply<TrialsReply>> {
  return useQuery({
    queryKey: [KEY, 'trials', version],
    queryFn: () => ask<TrialsReply>('GET', `/policies/trials?version=${encodeURIComponent(version)}`),
    refetchInterval: ({ state }) =>
      state.data?.body.runs.some((run) => !run.has_failed) ? COUNTING_MS : POLL_MS,
  });
}

/** Reads a count, and asks again while it is not over. `path` null: there is nothing to ask. */
function useCounted<Body extends { readonly counting: boolean }>(
  key: readonly (string | null)[],
  path: string | null,
): UseQueryResult<Reply<Body>> {
  return useQuery({
    queryKey: [KEY, ...key],
    queryFn: () => ask<Body>('GET', path ?? ''),
    enabled: path !== null,
    staleTime: KEPT_MS,
    refetchInterval: ({ state }) => (state.data?.body.counting ? COUNTING_MS : false),
  });
}

/** The findings of a document, before it is saved. */
export function useFindings(
  document: PolicyDocument | null,
): UseQueryResult<Reply<{ findings: FindingReply[] }>> {
  return useQuery({
    queryKey: [KEY, 'check', document],
    queryFn: () => ask<{ findings: FindingReply[] }>('POST', '/policies/check', { document }),
    enabled: document !== null,
    staleTime: KEPT_MS,
    placeholderData: (known) => known,
  });
}

/** All that is known of policies is asked for again. */
export function refreshPolicies(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: [KEY] });
}

export async function saveDraft(document: PolicyDocument, replaces: string | null): Promise<DraftReply> {
  return (await act<DraftReply>('POST', '/policies/drafts', { document, replaces })).body;
}

export async function withdraw(version: string): Promise<void> {
  await act('POST', '/policies/withdraw', { version });
}

export async function propose(
  version: string,
  reason: string,
  accept: readonly string[],
): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', '/policies/proposals', { version, reason, accept })).body;
}

export async function endProposal(
  id: number,
  end: 'confirm' | 'decline' | 'undo',
  body: object,
): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/policies/proposals/${id}/${end}`, body)).body;
}

/** Begins a backtest of what was registered on or after a day; null: of all. Its result comes with `useTrials`. */
export async function startBacktest(version: string, since: string | null): Promise<void> {
  await act('POST', '/policies/backtests', { version, since });
}

export async function startShadow(version: string, days: number): Promise<void> {
  await act('POST', '/policies/shadows', { version, days });
}

export async function stopShadow(version: string): Promise<void> {
  await act('POST', '/policies/shadows/stop', { version });
}
