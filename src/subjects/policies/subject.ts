/** The parts of the policies in the program: commands and tables. `program/subject/subject.ts` has the form. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import type { ReadRealFactors } from './commands/policy.ts';

/** The policies' part. `realFactors` reads what the terms of loans really cost a month, by currency (D45). */
export function policies({ realFactors }: { readonly realFactors: ReadRealFactors }): Subject {
  return {
    commands: [
      {
        command: (program) =>
          addGroup(program, 'policy', 'the policy that decides, and its versions', 'policy list'),
        load: async () => {
          const { addPolicyCommands } = await import('./commands/policy.ts');
          return (group, cli) => addPolicyCommands(group, cli, realFactors);
        },
      },
    ],
    tables: async () => (await import('./sql/tables.ts')).TABLES,
  };
}
