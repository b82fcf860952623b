/**
 * The parts of monitoring in the program: command, setting, route, service. `program/subject/subject.ts` has the form.
 */
import { addCommand } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import { METRICS_PARTNERS } from './settings.ts';

export const monitoring: Subject = {
  commands: [
    {
      command: (program) =>
        addCommand(program, 'status', 'show whether all is well, and what is not', 'status --watch'),
      load: async () => (await import('./commands/status.ts')).fillStatus,
    },
  ],
  settings: [METRICS_PARTNERS],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  consoleRoutes: async () => {
    const { healthRoutes } = await import('./routes/health.ts');
    return ({ view, database }) => healthRoutes(view, database);
  },
  service: async () => (await import('./service.ts')).MONITORING_SERVICE,
};
