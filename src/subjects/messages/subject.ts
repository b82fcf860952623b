/** The parts of the messages that the program gets: commands, settings, tables, loops and jobs. */
import type { Session } from '../../ground/postgres/database.ts';
import { addGroup, groupNamed } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import {
  CONTACT_WINDOWS_FILE,
  MESSAGES_PER_PHONE,
  MESSAGES_PER_SECOND,
  RECIPIENTS_PER_DAY,
  REJECTIONS_PER_PHONE,
} from './settings.ts';

export const messages: Subject = {
  commands: [
    {
      command: (program) => groupNamed(program, 'application'),
      load: async () => (await import('./commands/application-show.ts')).addApplicationShow,
    },
    {
      command: (program) => addGroup(program, 'message', 'the messages to applicants', 'message list'),
      load: async () => (await import('./commands/message.ts')).addMessageCommands,
    },
    {
      command: (program) => addGroup(program, 'reply', 'the answers to what persons write', 'reply list'),
      load: async () => (await import('./commands/reply.ts')).addReplyCommands,
    },
    {
      command: (program) =>
        addGroup(program, 'suppression', 'the phones that get no messages', 'suppression list'),
      load: async () => (await import('./commands/suppression.ts')).addSuppressionCommands,
    },
  ],
  settings: [
    MESSAGES_PER_SECOND,
    RECIPIENTS_PER_DAY,
    MESSAGES_PER_PHONE,
    REJECTIONS_PER_PHONE,
    CONTACT_WINDOWS_FILE,
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => ({
    indexKey: [(await import('./sql/suppressions.ts')).hasSuppressions],
    reindexings: [(await import('./sql/reindex.ts')).RECORD_REINDEXING],
  }),
  service: async () => (await import('./service.ts')).messagesService(),
};

/** Which of these templates are held because the channel refused them. */
export async function pausedAmong(session: Session, names: readonly string[]) {
  return (await import('./sql/pauses.ts')).readPausedAmong(session, names);
}
