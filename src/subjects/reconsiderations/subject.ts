/** The parts of reconsiderations that the program gets: commands, settings, tables, jobs, and who hears first. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import { DATA_REQUEST_DAYS, RECONSIDERATION_DAYS } from './settings.ts';

export const reconsiderations: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(
          program,
          'reconsideration',
          'what refused applicants and others ask a person for',
          'reconsideration list',
        ),
      load: async () => (await import('./commands/reconsideration.ts')).addReconsiderationCommands,
    },
  ],
  settings: [RECONSIDERATION_DAYS, DATA_REQUEST_DAYS],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  service: async () => (await import('./service.ts')).reconsiderationService(),
};
