/** The parts of the conversations in the program. */
import type { Subject } from '../subject/subject.ts';

export const conversation: Subject = {
  witnesses: async () => ({
    reindexings: [(await import('./sql/reindex.ts')).CONVERSATION_REINDEXING],
    dataKeys: [(await import('./sql/sealed-inputs.ts')).CONVERSATION_INPUTS],
  }),
  service: async () => (await import('./service.ts')).CONVERSATION_SERVICE,
};
