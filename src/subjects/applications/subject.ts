/**
 * The parts of the applications in the program: commands, settings, jobs, tables. `program/subject/subject.ts` has the
 * form.
 */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import { RETENTION_DAYS, RETENTION_POLICY } from './settings.ts';

export const applications: Subject = {
  commands: [
    {
      command: (program) => addGroup(program, 'application', 'the applications', 'application show 12'),
      load: async () => (await import('./commands/application.ts')).addApplicationCommands,
    },
    {
      command: (program) =>
        addGroup(program, 'retention', 'how long applications are kept', 'retention plan'),
      load: async () => (await import('./commands/retention.ts')).addRetentionCommands,
    },
  ],
  settings: [RETENTION_DAYS, RETENTION_POLICY],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => {
    const { ENVELOPES, hasBatches } = await import('./sql/secret-witnesses.ts');
    const { APPLICATION_REINDEXINGS } = await import('./sql/reindex.ts');
    return { indexKey: [hasBatches], reindexings: APPLICATION_REINDEXINGS, dataKeys: [ENVELOPES] };
  },
  service: async () => (await import('./service.ts')).applicationsService(),
};
