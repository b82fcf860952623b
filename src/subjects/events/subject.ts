/** The parts of the events in the program: command, job, tables. `program/subject/subject.ts` has the form. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const events: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(
          program,
          'event',
          'the events that partners read, and their pushes',
          'event list --partner 2',
        ),
      load: async () => (await import('./commands/event.ts')).addEventCommands,
    },
  ],
  portalRoutes: async () => (await import('./routes/portal.ts')).portalEventRoutes,
  service: async () => (await import('./service.ts')).EVENTS_SERVICE,
};
