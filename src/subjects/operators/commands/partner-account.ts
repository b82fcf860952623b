/**
 * `ventanilla partner account`: the accounts of people at partners, as operators add, list and end them (D54,
 * docs/portal.md). Each act is recorded.
 */
import type { Command } from 'commander';
import { PARTNER_ROLES, type PartnerRole } from '../../../domain/operator/authority.ts';
import { accountName } from '../../../domain/operator/operator-name.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, addGroup, type Cli, choiceOption } from '../../../program/cli/command.ts';
import { readPartnerId } from '../../../program/cli/id-arguments.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  addPartnerAccount,
  disablePartnerAccount,
  listPartnerAccounts,
  type PartnerAccount,
  resetPartnerAccount,
  signOutPartnerAccount,
} from '../uses/partner-accounts.ts';
import { writeInvited } from './write-invited.ts';

/** Adds the group to that of the partners. */
export function addPartnerAccountCommands(partners: Command, cli: Cli): void {
  const group = addGroup(
    partners,
    'account',
    'the accounts of people at partners, for the portal',
    'partner account list --partner 1',
  );
  addAdd(group, cli);
  addList(group, cli);
  addReset(group, cli);
  addSignOut(group, cli);
  addDisable(group, cli);
}

function addAdd(group: Command, cli: Cli): void {
  addCommand(
    group,
    'add',
    'add an account for a person at a partner, and print the link to choose the factors',
    'partner account add --partner 1 --login ana@acme.example',
  )
    .requiredOption('--partner <id>', 'the partner', readPartnerId)
    .requiredOption('--login <login>', 'the name to sign in with')
    .addOption(
      choiceOption(
        '--role <role>',
        'what the account may do; without it the first one is the owner, who adds the others',
        PARTNER_ROLES,
      ),
    )
    .action((options: { partner: PartnerId; login: string; role?: PartnerRole; json?: boolean }) =>
      cli.roles.operate(async (context) => {
        const { account, token } = await acting(
          context,
          (part) => addPartnerAccount(part, { ...options, partnerId: options.partner }),
          ({ account }) => ({ act: 'partner account add', target: accountTarget(account) }),
        );
        const { id, partnerId, login, role } = account;
        const told = `Added account ${id} of partner ${partnerId}: ${login} (${role}).`;
        await writeInvited(cli, 'partner', token, { told, shown: accountJson(account), json: options.json });
      }),
    );
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the accounts of people at partners', 'partner account list --partner 1')
    .option('--partner <id>', 'only those of this partner', readPartnerId)
    .action((options: ListOptions & { partner?: PartnerId }) =>
      roles.operate(async (context) =>
        writeList(io, await listPartnerAccounts(context, options.partner ?? null), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'PARTNER', value: ({ partnerId }) => partnerId },
            { title: 'LOGIN', value: ({ login }) => login },
            { title: 'ROLE', value: ({ role }) => role },
            { title: 'SIGNS IN SINCE', value: ({ enrolledAt }) => shortTime(enrolledAt) },
            { title: 'DISABLED', value: ({ disabledAt }) => shortTime(disabledAt) },
            { title: 'FORGED', value: ({ isForged }) => (isForged ? 'yes: disable it' : null) },
          ],
          json: accountJson,
          none: 'No accounts yet. Add one: npx ventanilla partner account add --partner ID --login ana@acme.example',
        }),
      ),
    );
}

function addReset(group: Command, cli: Cli): void {
  addCommand(
    group,
    'reset-factors',
    'end the sessions of an account, and print a link to choose new factors',
    'partner account reset-factors ana@acme.example',
  )
    .argument('<login>', 'the account')
    .action((login: string, { json }: { json?: boolean }) =>
      cli.roles.operate(async (context) => {
        const { account, token } = await acting(
          context,
          (part) => resetPartnerAccount(part, { login }),
          ({ account }) => ({ act: 'partner account reset-factors', target: accountTarget(account) }),
        );
        const told = `Account ${account.id}: ${account.login} has no factors any more, and is signed out.`;
        await writeInvited(cli, 'partner', token, { told, shown: accountJson(account), json });
      }),
    );
}

function addSignOut(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'sign-out',
    'end all sessions of an account, which may sign in again',
    'partner account sign-out ana@acme.example',
  )
    .argument('<login>', 'the account')
    .action((login: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const account = await acting(
          context,
          (part) => signOutPartnerAccount(part, { login }),
          (found) => ({ act: 'partner account sign-out', target: accountTarget(found) }),
        );
        if (json) return writeJson(io, accountJson(account));
        await writeOutput(io, `Account ${account.id}: ${account.login} is signed out everywhere.\n`);
      }),
    );
}

function addDisable(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'disable', 'end an account for good', 'partner account disable ana@acme.example')
    .argument('<login>', 'the account')
    .action((login: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const account = await acting(
          context,
          (part) => disablePartnerAccount(part, { login }),
          (found) => ({ act: 'partner account disable', target: accountTarget(found) }),
        );
        if (json) return writeJson(io, accountJson(account));
        await writeOutput(io, `Account ${account.id}: ${account.login} is disabled, and signed out.\n`);
      }),
    );
}

function accountTarget(account: PartnerAccount): string {
  return `${accountName(account)} of partner ${account.partnerId}: ${account.role}`;
}

function accountJson({ isForged: forged, ...account }: PartnerAccount) {
  return named({ ...account, forged }, [
    'id partner_id login role created_at signs_in_with enrolled_at disabled_at forged',
  ]);
}
