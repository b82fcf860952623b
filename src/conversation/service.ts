/** What `serve` and `worker` run of the conversations. */
import type { Service } from '../subject/subject.ts';
import { startReading, startSweep, startTurns, startWork } from './loops.ts';
import { forgetFlows } from './sql/flows.ts';
import { forgetConversations, mendConversations } from './sql/retention.ts';
import { hearMessages } from './uses/hear.ts';

export const CONVERSATION_SERVICE: Service = {
  upkeep: [
    { name: 'mend times of conversations', run: ({ database }) => mendConversations(database) },
    { name: 'forget conversations', seldom: true, run: ({ database }) => forgetConversations(database) },
    { name: 'forget flows', seldom: true, run: ({ database }) => forgetFlows(database) },
  ],
  loops: [startTurns, startWork, startReading, startSweep],
  hear: async (context, heard) => {
    const counts = await hearMessages(context, heard);
    if (counts.begun + counts.strangers > 0) context.log.info(counts, 'messages of persons');
  },
};
