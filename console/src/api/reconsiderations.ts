/** What refused applicants and others ask a person for, and the answers. */
import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type {
  AnsweredCaseReply,
  NewAnswer,
  ReconsiderationReply,
  ReconsiderationsReply,
} from '../../../src/subjects/desk/routes/reconsideration-forms.ts';
import { act } from './act.ts';
import { type Reading, reading } from './read.ts';

export type CaseState = ReconsiderationReply['state'];
export type NewAnswerBody = Static<typeof NewAnswer>;

const KEY = 'reconsiderations';
const POLL_MS = 15_000;

/** A page of open or answered cases, asked for again while the tab is shown. */
export function useReconsiderations(
  state: CaseState,
  cursor: string | null,
): UseQueryResult<Reading<ReconsiderationsReply>> {
  const query = new URLSearchParams({ state, ...(cursor !== null && { cursor }) });
  const path = `/reconsiderations?${query}`;
  return useQuery({
    ...reading<ReconsiderationsReply>(useQueryClient(), [KEY, String(query)], path),
    refetchInterval: POLL_MS,
  });
}

/** The same answer sent again counts once. */
export async function answerCase(
  queries: QueryClient,
  id: number,
  body: NewAnswerBody,
): Promise<AnsweredCaseReply> {
  const { body: answered } = await act<AnsweredCaseReply>('POST', `/reconsiderations/${id}/answer`, body);
  await queries.invalidateQueries({ queryKey: [KEY] });
  return answered;
}
