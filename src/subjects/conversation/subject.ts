/** The parts of the conversations that the program gets: commands, settings, tables, loops and jobs. */
import { addGroup, groupNamed } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import { CONVERSATION_DAYS } from './settings.ts';

export const conversation: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(program, 'conversation', 'what follows the tap on "I am interested"', 'conversation list'),
      load: async () => (await import('./commands/conversation.ts')).addConversationCommands,
    },
    {
      command: (program) => groupNamed(program, 'document'),
      load: async () => (await import('./commands/document-decide.ts')).addDecisions,
    },
    {
      command: (program) => groupNamed(program, 'contract'),
      load: async () => (await import('./commands/contract-withdraw.ts')).addWithdraw,
    },
    {
      command: (program) => groupNamed(program, 'application'),
      load: async () => (await import('./commands/disburse.ts')).addDisburse,
    },
    {
      command: (program) =>
        addGroup(program, 'disbursement', 'what was paid out of signed contracts', 'disbursement list 12'),
      load: async () => (await import('./commands/disburse.ts')).addDisbursementCommands,
    },
  ],
  settings: [CONVERSATION_DAYS],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  service: async () => (await import('./service.ts')).conversationService(),
};
