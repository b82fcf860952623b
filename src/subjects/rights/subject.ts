/** The part of the program by which a person's data is exported and erased: its command and its tables. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const rights: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(
          program,
          'subject',
          'everything about one person',
          'subject export --phone - --reveal --reason "ticket 4711"',
        ),
      load: async () => (await import('./commands/subject.ts')).addSubjectCommands,
    },
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
};
