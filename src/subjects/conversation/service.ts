/** What `serve` and `worker` run of the conversations. */
import { errorFields } from '../../ground/base/error-fields.ts';
import { eachApart } from '../../ground/postgres/row-fault.ts';
import type { Service, ServiceContext } from '../../program/subject/subject.ts';
import { startReading, startSweep, startTurns, startWork } from './loops.ts';
import { CONVERSATION_DAYS } from './settings.ts';
import { foldConversationCounts } from './sql/counts.ts';
import { forgetFlows } from './sql/flows.ts';
import { forgetConversations, mendConversations } from './sql/retention.ts';
import { hearMessages } from './uses/hear.ts';
import { stampChats, trimConversations, trimStrangers } from './uses/trim.ts';

export const CONVERSATION_SERVICE: Service = {
  upkeep: [
    { name: 'mend times of conversations', run: ({ database }) => mendConversations(database) },
    { name: 'fold conversation counts', run: ({ database }) => foldConversationCounts(database) },
    { name: 'forget conversations', seldom: true, run: ({ database }) => forgetConversations(database) },
    { name: 'forget chats', seldom: true, run: forgetChats },
    { name: 'forget flows', seldom: true, run: ({ database }) => forgetFlows(database) },
  ],
  loops: [startTurns, startWork, startReading, startSweep],
  hear: async ({ database, vault, log }, heard) => {
    await eachApart(
      heard,
      async (some) => {
        const { beyond, notices, ...counts } = await hearMessages({ database, vault }, some);
        if (counts.begun + counts.strangers > 0) log.info(counts, 'messages of persons');
        for (const { applicationId, did } of notices) {
          log[did === 'wrong_person' ? 'warn' : 'info'](
            { application_id: applicationId, did },
            'a person without a conversation wrote about an application',
          );
        }
        for (const [id, messages] of beyond) {
          log.warn({ application_id: id, messages }, 'too many messages of a person in an hour: not stored');
        }
      },
      ({ event }, error) =>
        log.error({ event: event.kind, error: errorFields(error) }, 'a message of a person cannot be stored'),
    );
  },
};

async function forgetChats({ database, log, setting }: ServiceContext): Promise<void> {
  await stampChats(database);
  const days = setting(CONVERSATION_DAYS);
  if (days === null) return;
  const conversations = await trimConversations(database, days);
  if (conversations > 0) log.info({ conversations }, 'deleted the chats of conversations that ended');
  const answers = await trimStrangers(database, days);
  if (answers > 0) log.info({ answers }, 'deleted answers to persons without a conversation');
}
