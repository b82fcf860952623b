/** Makes the blind indexes of erased persons' phones again when the index key is replaced. */
import { type Reindexing, reindexColumns } from '../../../seal/reindex.ts';

export const ERASURE_REINDEXING: Reindexing = reindexColumns(
  'erased phones',
  [
    {
      read: 'SELECT DISTINCT phone_index AS index FROM erased_phones',
      write: `
      UPDATE erased_phones t SET phone_index = g.after
      FROM unnest($1::bigint[], $2::bigint[]) AS g(before, after) WHERE t.phone_index = g.before`,
    },
  ],
  [
    `
  INSERT INTO erased_phones (erasure_id, phone_index)
  SELECT p.erasure_id, g.after FROM erased_phones p
  JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON p.phone_index = g.before
  ON CONFLICT DO NOTHING`,
  ],
);
