/** Proposals: decisions that can be undone for some seconds and are then applied. */
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type {
  BulkLook,
  BulkReply,
  ListedProposalReply,
  LookedAtReply,
  MadeProposalReply,
  NewBulk,
  NewProposalBody,
  PROPOSAL_LISTS,
  ProposalFactsReply,
  ProposalReply,
  ProposalsReply,
  UndoneBulk,
} from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { NewPend, PendReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import { act, actAbout } from './act.ts';
import { AnswerError, type Reply } from './ask.ts';
import { forPage } from './page-id.ts';
import { type Reading, reading } from './read.ts';

export type ProposalList = (typeof PROPOSAL_LISTS)[number];
export type NewBulkBody = Static<typeof NewBulk>;
export type BulkLookBody = Static<typeof BulkLook>;
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

/** It stands on every page, and little comes back. */
const BESIDE_POLL_MS = 15_000;

/** The operator's own proposals that came back, the last one first, with the count to confirm: both are on every page. */
export function useCameBack(): UseQueryResult<Reading<ProposalsReply>> {
  return useProposals('came_back', null, BESIDE_POLL_MS);
}

/** `etag` is that of the application as it was shown; with the same `key` the act counts once. */
export async function propose(
  id: number,
  body: NewProposalBody,
  { etag, key }: { etag: string; key: string },
): Promise<Reply<MadeProposalReply>> {
  const headers = { 'If-Match': etag, 'Idempotency-Key': key };
  const about = { step: 'propose', act: body.act, applicationId: id } as const;
  return actAbout<MadeProposalReply>(about, 'POST', `/applications/${id}/proposals`, body, headers);
}

export async function undo(proposal: number): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/proposals/${proposal}/undo`, {}, forPage())).body;
}

/** A proposal with all that its confirmation shows. */
export type ShownProposal = ListedProposalReply & { readonly facts: ProposalFactsReply };

/** Confirms the proposal as it was shown. */
export async function confirm({ id, act, application_id, facts }: ShownProposal): Promise<ProposalReply> {
  const about = { step: 'confirm', act, applicationId: application_id } as const;
  const body = { seen: facts.seen };
  return (await actAbout<ProposalReply>(about, 'POST', `/proposals/${id}/confirm`, body)).body;
}

/** What the refusal of an act shows because it has changed since; null: it was refused for something else. */
export function changedTo(error: unknown): Changed | null {
  const isChange = error instanceof AnswerError && error.status === 409 && error.body?.code === 'changed';
  return isChange ? (error.body as Changed) : null;
}

interface Changed {
  readonly proposal?: ShownProposal;
  readonly look?: LookedAtReply;
}

export async function decline(proposal: number, reason: string): Promise<ProposalReply> {
  return (await act<ProposalReply>('POST', `/proposals/${proposal}/decline`, { reason })).body;
}

/** One decision on many; with the same `key` it counts once. */
export async function proposeMany(body: NewBulkBody, key: string): Promise<BulkReply> {
  return (await act<BulkReply>('POST', '/proposals/bulk', body, { 'Idempotency-Key': key })).body;
}

/** What a decision on many would be about, as it is now. */
export async function lookAtMany(body: BulkLookBody): Promise<LookedAtReply> {
  return (await act<LookedAtReply>('POST', '/proposals/bulk/look', body)).body;
}

/**
 * Takes back what is still open of the decision that had this key; tells of which applications. A decision that is
 * still on its way is taken back too.
 */
export async function undoByKey(key: string): Promise<readonly number[]> {
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
  return (await act<PendReply>('POST', `/applications/${id}/resume`, {}, forPage())).body;
}
