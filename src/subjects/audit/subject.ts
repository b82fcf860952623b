/** The part of the program that reads and verifies the record of operators' acts: its command and its job. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const audit: Subject = {
  commands: [
    {
      command: (program) => addGroup(program, 'audit', 'what operators did and read', 'audit list'),
      load: async () => (await import('./commands/audit.ts')).addAuditCommands,
    },
  ],
  witnesses: async () => ({
    indexKey: [(await import('../../program/operations/sql/operator-events.ts')).hasOperatorEvents],
  }),
  service: async () => (await import('./service.ts')).auditService(),
};
