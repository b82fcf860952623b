/** The part of the program that counts the business. `program/subject/subject.ts` has the form. */
import { addCommand } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const business: Subject = {
  commands: [
    {
      command: (program) =>
        addCommand(
          program,
          'report',
          'show the business in numbers, by day, week or month',
          'report --by week --since 2026-11-01',
        ),
      load: async () => (await import('./commands/report.ts')).fillReport,
    },
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  portalRoutes: async () => (await import('./routes/portal.ts')).portalBusinessRoutes,
  service: async () => (await import('./service.ts')).businessService(),
};
