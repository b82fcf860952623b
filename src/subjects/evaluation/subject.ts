/** The part of the program that tries policies on what was decided. `program/subject/subject.ts` has the form. */
import { groupNamed } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const evaluation: Subject = {
  commands: [
    {
      command: (program) => groupNamed(program, 'policy'),
      load: async () => (await import('./commands/policy-trials.ts')).addPolicyTrials,
    },
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  service: async () => (await import('./service.ts')).evaluationService(),
};
