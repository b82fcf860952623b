/** The views that the operator saved, and the rows of a file. */
import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { FileRowsReply, SavedViewsReply } from '../../../src/subjects/desk/routes/view-forms.ts';
import { act } from './act.ts';
import { ask, type Reply } from './ask.ts';
import type { ViewAddress } from './find.ts';

const KEY = ['saved-views'];

/** The operator's saved views, by name. */
export function useSavedViews(): UseQueryResult<Reply<SavedViewsReply>> {
  return useQuery({ queryKey: KEY, queryFn: () => ask<SavedViewsReply>('GET', '/saved-views') });
}

/** Saves a view, in the place of that with the same name. */
export async function saveView(queries: QueryClient, name: string, address: ViewAddress): Promise<void> {
  await act('POST', '/saved-views', { name, query: queryOf(address) });
  await queries.invalidateQueries({ queryKey: KEY });
}

/** Deletes a saved view. Where it is gone already, the list is read again all the same. */
export async function deleteView(queries: QueryClient, id: number): Promise<void> {
  try {
    await act('DELETE', `/saved-views/${id}`);
  } finally {
    await queries.invalidateQueries({ queryKey: KEY });
  }
}

/** Rows of a view for a file. The first ones are recorded with the reason. */
export async function fileRows(
  address: ViewAddress,
  reason: string,
  place: { readonly cursor?: string; readonly rows?: number },
): Promise<FileRowsReply> {
  const body = { ...queryOf(address), reason, ...place };
  return (await act<FileRowsReply>('POST', '/applications/rows', body)).body;
}

/** The address in the forms of the service. */
function queryOf({ partner, ...address }: ViewAddress) {
  return { ...address, ...(partner !== undefined && { partner: Number(partner) }) };
}
