/** Proposals: decisions that can be undone for some seconds and are then applied. */
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type {
  BulkReply,
  NewBulk,
  NewProposalBody,
  PROPOSAL_LISTS,
  ProposalReply,
  ProposalsReply,
  UndoneBulk,
} from '../../../src/desk/routes/proposal-forms.ts';
import type { NewPend, PendReply } from '../../../src/desk/routes/work-forms.ts';
import { act } from './act.ts';
import type { Reply } from './ask.ts';
import { type Reading, reading } from './read.ts';

export type ProposalList = (typeof PROPOSAL_LISTS)[number];
export type NewBulkBody = Static<typeof NewBulk>;
export type NewPendBody = Static<typeof NewPend>;

const POLL_MS = 5_000;

/** A page of a list, asked for again while the tab is shown. */
export function useProposals(
  list: ProposalList,
  cursor: string | null,
  pollMs = POLL_MS,
): UseQueryResult<Reading<ProposalsReply>> {
  const query = new URLSearchParams({ list, ...(cursor !== null && { cursor }) });
  return useQuery({
    ...reading<ProposalsReply>(useQueryClient(), ['proposals', String(query)], `/proposals?${query}`),
    refetchInterval: pollMs,
  });
}

/** `etag` is that of the application as it was shown; with the same `key` the act counts once. */
export async function propose(
  id: number,
  body: NewProposalBody,
  { etag, key }: { etag: string; key: string },
): Promise<Reply<ProposalReply>> {
  const headers = { 'If-Match': etag, 'Idempotency-Key': key };
  return act<ProposalReply>('POST', `/applications/${id}/proposals`, body, headers);
}

export async function undo(proposal: number): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/proposals/${proposal}/undo`, {})).body;
}

export async function confirm(proposal: number): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/proposals/${proposal}/confirm`, {})).body;
}

export async function decline(proposal: number, reason: string): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/proposals/${proposal}/decline`, { reason })).body;
}

/** One decision on many; with the same `key` it counts once. */
export async function proposeMany(body: NewBulkBody, key: string): Promise<BulkReply> {
  return (await act<BulkReply>('POST', '/proposals/bulk', body, { 'Idempotency-Key': key })).body;
}

/** Takes back what is still open of the decision on many that had this key; tells how many. */
export async function undoMany(key: string): Promise<number> {
  const headers = { 'Idempotency-Key': key };
  return (await act<Static<typeof UndoneBulk>>('POST', '/proposals/bulk/undo', {}, headers)).body.undone;
}

/** As `propose`. */
export async function pend(
  id: number,
  body: NewPendBody,
  { etag, key }: { etag: string; key: string },
): Promise<PendReply> {
  const headers = { 'If-Match': etag, 'Idempotency-Key': key };
  return (await act<PendReply>('POST', `/applications/${id}/pend`, body, headers)).body;
}

export async function resume(id: number): Promise<PendReply> {
  return (await act<PendReply>('POST', `/applications/${id}/resume`, {})).body;
}
