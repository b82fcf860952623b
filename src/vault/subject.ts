/** The parts of the vault in the program: the data keys, as operators change them. */
import { addGroup } from '../cli/command.ts';
import type { SealedKind } from '../seal/witness.ts';
import type { Subject } from '../subject/subject.ts';

/** `sealed` loads what the data keys seal, over all subjects. */
export function vault({ sealed }: { readonly sealed: () => Promise<readonly SealedKind[]> }): Subject {
  return {
    commands: [
      {
        place: (program) =>
          addGroup(program, 'vault', 'the data keys that seal personal data', 'vault status'),
        load: async () => {
          const { addVaultCommands } = await import('./commands/vault.ts');
          const kinds = await sealed();
          return (group, cli) => addVaultCommands(group, cli, kinds);
        },
      },
    ],
    service: async () => (await import('./service.ts')).vaultService(await sealed()),
  };
}
