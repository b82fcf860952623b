/** `ventanilla operator`: adds, lists, changes and disables operators (docs/operators.md). Each act is recorded. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  AUTHORITY_RULE,
  type Authority,
  authorityJson,
  authorityText,
  ROLES,
  type Role,
  readAuthority,
} from '../../../domain/operator/authority.ts';
import { operatorName, operatorWithRole } from '../../../domain/operator/operator-name.ts';
import { named } from '../../../ground/base/named.ts';
import { addCommand, type Cli, choiceOption } from '../../../program/cli/command.ts';
import {
  type ListOptions,
  shortTime,
  writeJson,
  writeList,
  writeOutput,
} from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import {
  addOperator,
  changeOperator,
  disableOperator,
  listOperators,
  type Operator,
  resetOperator,
  signOutOperator,
} from '../uses/manage.ts';
import { writeInvited } from './write-invited.ts';

export function addOperatorCommands(group: Command, cli: Cli): void {
  addAdd(group, cli);
  addList(group, cli);
  addRole(group, cli);
  addReset(group, cli);
  addSignOut(group, cli);
  addDisable(group, cli);
}

function addAdd(group: Command, cli: Cli): void {
  addCommand(
    group,
    'add',
    'add an operator, and print the link to choose the factors',
    'operator add --login ana --role reviewer --authority COP=5000000',
  )
    .requiredOption('--login <login>', 'the name to sign in with')
    .addOption(roleOption().makeOptionMandatory())
    .addOption(authorityOption('without it the operator decides on nothing alone'))
    .action(
      ({
        authority = new Map(),
        ...options
      }: {
        login: string;
        role: Role;
        authority?: Authority;
        json?: boolean;
      }) =>
        cli.roles.operate(async (context) => {
          const { operator, token } = await acting(
            context,
            (part) => addOperator(part, { ...options, authority }),
            ({ operator }) => ({ act: 'operator add', target: operatorWithRole(operator) }),
          );
          const told = `Added operator ${operator.id}: ${operator.login} (${operator.role}).`;
          await writeInvited(cli, 'operator', token, {
            told,
            shown: operatorJson(operator),
            json: options.json,
          });
        }),
    );
}

function addList(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'list', 'list the operators, with role and authority', 'operator list').action(
    (options: ListOptions) =>
      roles.operate(async (context) =>
        writeList(io, await listOperators(context), options, {
          columns: [
            { title: 'ID', value: ({ id }) => id },
            { title: 'LOGIN', value: ({ login }) => login },
            { title: 'ROLE', value: ({ role }) => role },
            { title: 'AUTHORITY', value: ({ authority }) => authorityText(authority) || null },
            { title: 'SIGNS IN WITH', value: ({ signsInWith }) => signsInWith },
            { title: 'SIGNS IN SINCE', value: ({ enrolledAt }) => shortTime(enrolledAt) },
            { title: 'DISABLED', value: ({ disabledAt }) => shortTime(disabledAt) },
            { title: 'FORGED', value: ({ isForged }) => (isForged ? 'yes: disable it' : null) },
          ],
          json: operatorJson,
          none: 'No operators yet. Add one: npx ventanilla operator add --login ana --role admin',
        }),
      ),
  );
}

function addRole(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'role',
    'give an operator another role or authority',
    'operator role ana --role reviewer --authority COP=5000000 --authority MXN=20000',
  )
    .argument('<login>', 'the operator')
    .addOption(roleOption())
    .addOption(authorityOption('these take the place of the ones before'))
    .action(
      (login: string, options: { role?: Role; authority?: Authority; json?: boolean }, command: Command) => {
        if (options.role === undefined && options.authority === undefined) {
          command.error('error: name the new --role, the new --authority, or both');
        }
        return roles.operate(async (context) => {
          const operator = await acting(
            context,
            (part) => changeOperator(part, login, options),
            (changed) => ({ act: 'operator role', target: operatorWithRole(changed) }),
          );
          if (options.json) return writeJson(io, operatorJson(operator));
          const { id, role, authority } = operator;
          const alone = authorityText(authority) || 'nothing';
          await writeOutput(
            io,
            `Operator ${id}: ${operator.login} is ${role} now, and decides alone on: ${alone}.\n`,
          );
        });
      },
    );
}

function addReset(group: Command, cli: Cli): void {
  addCommand(
    group,
    'reset-factors',
    'end the sessions of an operator, unbind the identity, and print a link to choose new factors',
    'operator reset-factors ana',
  )
    .argument('<login>', 'the operator')
    .action((login: string, { json }: { json?: boolean }) =>
      cli.roles.operate(async (context) => {
        const { operator, token } = await acting(
          context,
          (part) => resetOperator(part, login),
          ({ operator: { id } }) => ({ act: 'operator reset-factors', target: operatorName(id) }),
        );
        const told = `Operator ${operator.id}: ${operator.login} has no factors any more, and is signed out.`;
        await writeInvited(cli, 'operator', token, { told, shown: operatorJson(operator), json });
      }),
    );
}

function addSignOut(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'sign-out',
    'end all sessions of an operator, who may sign in again',
    'operator sign-out ana',
  )
    .argument('<login>', 'the operator')
    .action((login: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const operator = await acting(
          context,
          (part) => signOutOperator(part, login),
          ({ id }) => ({ act: 'operator sign-out', target: operatorName(id) }),
        );
        if (json) return writeJson(io, operatorJson(operator));
        await writeOutput(io, `Operator ${operator.id}: ${operator.login} is signed out everywhere.\n`);
      }),
    );
}

function addDisable(group: Command, { roles, io }: Cli): void {
  addCommand(group, 'disable', 'end the account of an operator for good', 'operator disable ana')
    .argument('<login>', 'the operator')
    .action((login: string, { json }: { json?: boolean }) =>
      roles.operate(async (context) => {
        const operator = await acting(
          context,
          (part) => disableOperator(part, login),
          ({ id }) => ({ act: 'operator disable', target: operatorName(id) }),
        );
        if (json) return writeJson(io, operatorJson(operator));
        await writeOutput(io, `Operator ${operator.id}: ${operator.login} is disabled, and signed out.\n`);
      }),
    );
}

function roleOption(): Option {
  return choiceOption('--role <role>', 'what the operator may do', ROLES);
}

function authorityOption(note: string): Option {
  return new Option(
    '--authority <amount>',
    `the largest amount that the operator decides alone, as COP=5000000, or none; may be given for several currencies; ${note}`,
  ).argParser((text: string, before?: Authority) => {
    if (text === 'none' && before === undefined) return new Map();
    if (text === 'none' || before?.size === 0)
      throw new InvalidArgumentError('none stands alone, without amounts.');
    const amount = readAuthority(text);
    if (amount === null) throw new InvalidArgumentError(`It must be ${AUTHORITY_RULE}.`);
    if (before?.has(amount[0])) throw new InvalidArgumentError(`${amount[0]} has an amount already.`);
    return new Map([...(before ?? []), amount]);
  });
}

function operatorJson(operator: Operator) {
  const { authority, isForged: forged } = operator;
  return named({ ...operator, authority: authorityJson(authority), forged }, [
    'id login role',
    { authority: '*' },
    'created_at signs_in_with enrolled_at disabled_at forged',
  ]);
}
