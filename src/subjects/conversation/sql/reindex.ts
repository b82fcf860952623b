/** Makes the blind indexes of conversations again when the index key is replaced. */
import { reindexColumns } from '../../../seal/reindex.ts';

const NEW = 'unnest($1::bigint[], $2::bigint[]) AS g(before, after)';

const MOVE = `UPDATE conversations t SET phone_index = g.after FROM ${NEW} WHERE t.phone_index = g.before`;

/** What has blind indexes of conversations. */
export const CONVERSATION_REINDEXING = reindexColumns(
  'conversations',
  [
    {
      read: 'SELECT DISTINCT phone_index AS index FROM conversations',
      write: MOVE,
    },
    {
      read: 'SELECT message_index AS index FROM conversation_inputs WHERE message_index IS NOT NULL',
      write: `UPDATE conversation_inputs t SET message_index = g.after FROM ${NEW} WHERE t.message_index = g.before`,
    },
  ],
  [MOVE],
);
