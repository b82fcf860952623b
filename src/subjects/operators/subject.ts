/** The parts of the operators' accounts that the program gets: commands, settings, tables and jobs. */
import type { PartnerId } from '../../domain/partner/credential.ts';
import type { Transaction } from '../../ground/postgres/database.ts';
import { addGroup, groupNamed } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';
import type { Vault } from '../../seal/vault.ts';
import {
  CONSOLE_HOST,
  CONSOLE_PORT,
  CONSOLE_TRUSTED_PROXIES,
  CONSOLE_URL,
  OIDC_CLIENT_ID,
  OIDC_CLIENT_SECRET,
  OIDC_ISSUER,
  OIDC_SECOND_FACTOR,
  PORTAL_HOST,
  PORTAL_PORT,
  PORTAL_TRUSTED_PROXIES,
  PORTAL_URL,
} from './settings.ts';

export const operators: Subject = {
  commands: [
    {
      command: (program) => addGroup(program, 'operator', 'the accounts of operators', 'operator list'),
      load: async () => (await import('./commands/operator.ts')).addOperatorCommands,
    },
    {
      command: (program) => groupNamed(program, 'partner'),
      load: async () => (await import('./commands/partner-account.ts')).addPartnerAccountCommands,
    },
  ],
  settings: [
    ...[CONSOLE_PORT, CONSOLE_HOST, CONSOLE_URL, CONSOLE_TRUSTED_PROXIES],
    ...[PORTAL_PORT, PORTAL_HOST, PORTAL_URL, PORTAL_TRUSTED_PROXIES],
    ...[OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_SECOND_FACTOR],
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => {
    const { hasAccounts, RENEWED } = await import('./sql/macs.ts');
    return { indexKey: [hasAccounts], reindexings: RENEWED };
  },
  service: async () => (await import('./service.ts')).OPERATORS_SERVICE,
};

/** What the accounts do for a partner that closes. */
export async function endAccounts(session: Transaction, partnerId: PartnerId, vault: Vault): Promise<void> {
  await (await import('./sql/partner-accounts.ts')).endPartnerSignIns(session, vault, partnerId);
}
