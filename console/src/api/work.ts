/** Notes, documents' files, and the lead's view. */
import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Static } from 'typebox';
import type { ApplicationReply, NoteReply } from '../../../src/subjects/desk/routes/forms.ts';
import type {
  DocumentFile as DocumentFileForm,
  LeadReply,
  NewLook,
  SecondLooksReply,
} from '../../../src/subjects/desk/routes/work-forms.ts';
import { act } from './act.ts';
import type { Reply } from './ask.ts';
import { type Reading, reading } from './read.ts';

export type DocumentFile = Static<typeof DocumentFileForm>;
export type NewLookBody = Static<typeof NewLook>;

const LEAD_POLL_MS = 30_000;
const LOOKS_KEY = ['second-looks'];

/**
 * With the same `key` the note is written once. The application's page has it at once: it is no event, so the entity
 * tag does not tell of it.
 */
export async function addNote(queries: QueryClient, id: number, text: string, key: string): Promise<void> {
  const headers = { 'Idempotency-Key': key };
  const { body } = await act<NoteReply>('POST', `/applications/${id}/notes`, { text }, headers);
  queries.setQueryData<Reply<ApplicationReply>>(
    ['application', String(id)],
    (known) => known && { ...known, body: { ...known.body, notes: withNote(known.body.notes, body) } },
  );
}

/** An answer that was lost may have come with the application meanwhile. */
function withNote(notes: readonly NoteReply[] = [], note: NoteReply): NoteReply[] {
  return [...notes.filter(({ id }) => id !== note.id), note];
}

/** The file of a document. The reading is recorded with its reason, once for each `key`. No cache keeps the answer. */
export async function revealFile(
  id: number,
  document: number,
  reason: string,
  key: string,
): Promise<DocumentFile> {
  const path = `/applications/${id}/documents/${document}/reveal`;
  return (await act<DocumentFile>('POST', path, { reason }, { 'Idempotency-Key': key })).body;
}

export function useLead(days: number): UseQueryResult<Reading<LeadReply>> {
  return useQuery({
    ...reading<LeadReply>(useQueryClient(), ['lead', String(days)], `/lead?days=${days}`),
    refetchInterval: LEAD_POLL_MS,
  });
}

export function useSecondLooks(): UseQueryResult<Reading<SecondLooksReply>> {
  return useQuery({
    ...reading<SecondLooksReply>(useQueryClient(), LOOKS_KEY, '/second-looks'),
    refetchInterval: LEAD_POLL_MS,
  });
}

/** What the looker says of a decision. It leaves the list at once. */
export async function judge(queries: QueryClient, proposal: number, look: NewLookBody): Promise<void> {
  await act('POST', `/second-looks/${proposal}`, look);
  const rest = ({ second_looks }: SecondLooksReply) => ({
    second_looks: second_looks.filter((one) => one.proposal !== proposal),
  });
  queries.setQueryData<Reading<SecondLooksReply>>(
    LOOKS_KEY,
    (known) => known && { ...known, body: rest(known.body) },
  );
  await queries.invalidateQueries({ queryKey: ['lead'] });
}
