/** The parts of the vault in the program: the data keys, as operators change them. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import type { Witnesses } from '../../seal/witness.ts';

/** `witnesses` loads what all subjects store that depends on a secret. */
export function vault({ witnesses }: { readonly witnesses: () => Promise<Witnesses> }): Subject {
  return {
    commands: [
      {
        command: (program) =>
          addGroup(program, 'vault', 'the data keys that seal personal data', 'vault status'),
        load: async () => {
          const { addVaultCommands } = await import('./commands/vault.ts');
          const { dataKeys, reindexings } = await witnesses();
          return (group, cli) => addVaultCommands(group, cli, dataKeys, reindexings);
        },
      },
    ],
    service: async () => (await import('./service.ts')).vaultService((await witnesses()).dataKeys),
  };
}
