/** The parts of the operators' accounts that the program gets: commands, settings, tables and jobs. */
import { addGroup } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import {
  CONSOLE_HOST,
  CONSOLE_PORT,
  CONSOLE_TRUSTED_PROXIES,
  CONSOLE_URL,
  OIDC_CLIENT_ID,
  OIDC_CLIENT_SECRET,
  OIDC_ISSUER,
  OIDC_SECOND_FACTOR,
} from './settings.ts';

export const operators: Subject = {
  commands: [
    {
      command: (program) => addGroup(program, 'operator', 'the accounts of operators', 'operator list'),
      load: async () => (await import('./commands/operator.ts')).addOperatorCommands,
    },
  ],
  settings: [
    ...[CONSOLE_PORT, CONSOLE_HOST, CONSOLE_URL, CONSOLE_TRUSTED_PROXIES],
    ...[OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_SECOND_FACTOR],
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => {
    const { hasAccounts, RENEWED } = await import('./sql/macs.ts');
    return { indexKey: [hasAccounts], reindexings: RENEWED };
  },
  service: async () => (await import('./service.ts')).OPERATORS_SERVICE,
};
