/** Makes the blind indexes of the messages that documents came by again. */
import { reindexColumns } from '../../../seal/reindex.ts';

export const DOCUMENT_REINDEXING = reindexColumns('document inputs', [
  {
    read: 'SELECT input_index AS index FROM document_inputs',
    write: `
      UPDATE document_inputs t SET input_index = g.after
      FROM unnest($1::bigint[], $2::bigint[]) AS g(before, after) WHERE t.input_index = g.before`,
  },
]);
