/** The parts of the incomes that the program gets: commands, settings, tables and jobs. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import { BELVO_RETURN_URL, BELVO_SECRET_ID, BELVO_SECRET_PASSWORD, BELVO_URL } from './settings.ts';

export const income: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(program, 'income', 'the observed income against the declared one', 'income show 346'),
      load: async () => (await import('./commands/income.ts')).addIncomeCommands,
    },
  ],
  settings: [BELVO_URL, BELVO_SECRET_ID, BELVO_SECRET_PASSWORD, BELVO_RETURN_URL],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  service: async () => (await import('./service.ts')).incomeService(),
};
