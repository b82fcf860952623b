/** One application, and its personal data. */
import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ApplicationReply,
  CorrectedReply,
  NewCorrectionBody,
  RevealedReply,
} from '../../../src/subjects/desk/routes/forms.ts';
import type { NeighboursReply } from '../../../src/subjects/desk/routes/neighbour-forms.ts';
import type { PaymentPlanReply, ProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { act } from './act.ts';
import { ask, type Reply } from './ask.ts';
import { type Reading, reading } from './read.ts';

const POLL_MS = 5_000;
/** Messages, claims and proposals are no events, so the entity tag does not tell of them. */
const WHOLE_MS = 12_000;

/** The query of one application, for a page and for reading ahead. */
export function applicationQuery(queries: QueryClient, id: string) {
  return reading<ApplicationReply>(queries, ['application', id], `/applications/${id}`, WHOLE_MS);
}

/** The application, asked for again every five seconds while the tab is shown. */
export function useApplication(id: string): UseQueryResult<Reading<ApplicationReply>> {
  return useQuery({ ...applicationQuery(useQueryClient(), id), refetchInterval: POLL_MS });
}

/** Others of the same phone, ID number or city. Read once for a page: they cost more than they change. */
export function useNeighbours(id: string): UseQueryResult<Reply<NeighboursReply>> {
  return useQuery({
    queryKey: ['neighbours', id],
    queryFn: () => ask<NeighboursReply>('GET', `/applications/${id}/neighbours`),
    refetchOnWindowFocus: false,
  });
}

/** The application, always as a whole: the chat is no event, so the entity tag does not tell of it. */
export function useWholeApplication(id: string): UseQueryResult<Reading<ApplicationReply>> {
  const whole = reading<ApplicationReply>(useQueryClient(), ['application', id], `/applications/${id}`, 0);
  return useQuery({ ...whole, refetchInterval: POLL_MS });
}

/** The personal data. The reading is recorded with its reason, once for each `key`. No cache keeps the answer. */
export async function reveal(id: number, reason: string, key: string): Promise<RevealedReply> {
  const headers = { 'Idempotency-Key': key };
  return (await act<RevealedReply>('POST', `/applications/${id}/reveal`, { reason }, headers)).body;
}

/** Corrects one field. The page asks for the application again, because the correction is an event. */
export async function correct(
  queries: QueryClient,
  id: number,
  body: NewCorrectionBody,
): Promise<CorrectedReply> {
  const done = await act<CorrectedReply>('POST', `/applications/${id}/corrections`, body);
  await queries.invalidateQueries({ queryKey: ['application', String(id)] });
  return done.body;
}

/** What the contract says to pay to whom. The reading is recorded. */
export async function paymentPlan(id: number): Promise<PaymentPlanReply> {
  return (await act<PaymentPlanReply>('POST', `/applications/${id}/payment-plan`, {})).body;
}

/** The application's page has the proposal at once: it is no event, so the entity tag does not tell of it. */
export function showProposal(queries: QueryClient, proposal: ProposalReply): void {
  queries.setQueryData<Reading<ApplicationReply>>(
    ['application', String(proposal.application_id)],
    (known) => known && { ...known, body: { ...known.body, proposal } },
  );
}
