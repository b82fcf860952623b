/** The part of the program by which operators replace keys: commands and jobs. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import type { Witnesses } from '../../seal/witness.ts';

/** The vault's part. `witnesses` loads everything that subjects store and that depends on a secret. */
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
