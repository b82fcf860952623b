/** The parts of the applications in the program. */
import { addGroup } from '../cli/command.ts';
import type { Subject } from '../subject/subject.ts';
import { RETENTION_DAYS } from './settings.ts';

export const applications: Subject = {
  commands: [
    {
      command: (program) => addGroup(program, 'application', 'the applications', 'application show 12'),
      load: async () => (await import('./commands/application.ts')).addApplicationCommands,
    },
  ],
  settings: [RETENTION_DAYS],
  witnesses: async () => {
    const { ENVELOPES, hasBatches } = await import('./sql/secret-witnesses.ts');
    const { reindexApplications } = await import('./sql/reindex.ts');
    return { indexKey: [hasBatches], reindexings: [reindexApplications], dataKeys: [ENVELOPES] };
  },
  service: async () => (await import('./service.ts')).APPLICATIONS_SERVICE,
};
