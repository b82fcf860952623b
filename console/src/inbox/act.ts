/** An act on a conversation of the inbox, sent again with the same key where its answer was lost. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { actInInbox, claimRenewed, type InboxAct, inboxActOf } from '../api/inbox.ts';
import { RequestKey } from '../api/request-key.ts';

export function useAct(id: string) {
  const queries = useQueryClient();
  const [key] = useState(() => new RequestKey());
  return useMutation({
    mutationKey: inboxActOf(id),
    mutationFn: async (asked: InboxAct) => {
      await claimRenewed(queries, id);
      return actInInbox(queries, id, asked, key.of([id, asked]));
    },
    gcTime: 0,
    onSuccess: () => key.done(),
  });
}
