/**
 * `ventanilla debt`: shows and changes the debts that the loan of an application consolidates (D52; docs/signing.md,
 * "The debts"). Creditors and balances are personal data, so each reading is recorded.
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { sumText } from '../../../domain/loan/debt.ts';
import { named } from '../../../ground/base/named.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli, readDay, readPositive } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import { checkReason } from '../../../program/operations/operator-context.ts';
import { acceptList, addDebt, listDebts, removeDebt } from '../uses/debts.ts';

/** Adds the commands of the group. */
export function addDebtCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addAdd(group, cli);
  addRemove(group, cli);
  addAccept(group, cli);
}

interface Options extends ActorOptions {
  readonly reason?: string;
  readonly json?: boolean;
}

const NAMES =
  'id creditor reference balance as_of overdue_since told_by document_id added_at added_by removed_at removed_by';

function withReason(command: Command): Command {
  return command
    .option('--reason <text>', 'why, for the record of acts; without personal data', asArgument(checkReason))
    .addOption(actorOption());
}

/** What the record of acts says about an act; absent members are left out. */
function actOf(name: string, applicationId: ApplicationId, { reason }: Options, debt?: number) {
  return {
    act: `debt ${name}`,
    applicationId,
    ...(debt !== undefined && { target: `debt ${debt}` }),
    ...(reason !== undefined && { reason }),
  };
}

function addList(group: Command, { roles, io }: Cli): void {
  const command = addCommand(
    group,
    'list',
    'list the debts that count; the reading is recorded',
    'debt list 346',
  )
    .argument('<application>', 'the application', readApplicationId)
    .option('--all', 'also those that were removed');
  withReason(command).action((id: ApplicationId, { all, ...options }: Options & { all?: boolean }) =>
    roles.operate(async (context) => {
      const list = await listDebts(context, id, { all: all === true });
      const { debts } = list;
      await noting(namedBy(options, context), actOf('list', id, options));
      const { json = false } = options;
      await writeList(
        io,
        debts,
        { json, limit: debts.length },
        {
          columns: [
            { title: 'ID', value: (debt) => debt.id },
            { title: 'CREDITOR', value: ({ creditor }) => creditor },
            { title: 'REFERENCE', value: ({ reference }) => reference },
            { title: 'BALANCE', value: ({ balance }) => balance },
            { title: 'AS OF', value: ({ asOf }) => asOf },
            { title: 'OVERDUE SINCE', value: ({ overdueSince }) => overdueSince },
            { title: 'TOLD BY', value: ({ toldBy }) => toldBy },
            ...(all === true
              ? [{ title: 'REMOVED BY', value: (debt: (typeof debts)[number]) => debt.removedBy }]
              : []),
          ],
          json: (debt) => named(debt, NAMES),
          none: `No debts of application ${id} are known.`,
        },
      );
      if (!json) await writeOutput(io, `\n${sidesOf(list)}\n`);
    }),
  );
}

/** What the partner declared, what was told, and what documents say, side by side. */
function sidesOf({ debts, declared, currency }: Awaited<ReturnType<typeof listDebts>>): string {
  const counting = debts.filter(({ removedAt }) => removedAt === null);
  const [read, told] = [true, false].map((isRead) =>
    sumText(
      counting.filter(({ toldBy }) => (toldBy === 'document') === isRead),
      currency,
    ),
  );
  return `Declared ${declared} ${currency}, told ${told}, read in documents ${read}.`;
}

interface AddOptions extends Options {
  readonly creditor: string;
  readonly balance: string;
  readonly reference?: string;
  readonly currency?: string;
  readonly asOf?: string;
  readonly overdueSince?: string;
}

function addAdd(group: Command, { roles, io }: Cli): void {
  const example = 'debt add 346 --creditor "Banco Azul" --balance 1500000 --reference - --as-of 2026-11-30';
  const command = addCommand(group, 'add', 'add a debt to the list', example)
    .argument('<application>', 'the application', readApplicationId)
    .requiredOption('--creditor <name>', 'who is paid; "-" reads a line of standard input')
    .requiredOption('--balance <number>', 'what is owed, such as 1500000 or 1500.50', readBalance)
    .option('--reference <number>', 'the number of the account or credit; "-" reads a line of standard input')
    .option('--currency <code>', "the currency, which must be the application's", readCurrency)
    .option('--as-of <date>', 'the day of the balance; default: today, in the country of the person', readDay)
    .option('--overdue-since <date>', 'the day since which a payment is missing', readDay);
  withReason(command).action((id: ApplicationId, options: AddOptions) => {
    const { creditor, reference, balance, currency = null, asOf = null, overdueSince = null } = options;
    if (creditor === '-' && reference === '-')
      command.error('error: only one of --creditor and --reference can be read from standard input');
    return roles.operate(async (context) => {
      const given = {
        creditor: (await hiddenValue(io, creditor)).trim(),
        reference: reference === undefined ? null : (await hiddenValue(io, reference)).trim(),
        ...{ balance, currency, asOf, overdueSince },
      };
      const added = await acting(
        namedBy(options, context),
        (part) => addDebt(part, id, given),
        (debt) => actOf('add', id, options, debt.id),
      );
      if (options.json)
        return writeJson(
          io,
          named(
            { ...added, toldBy: 'operator' },
            'id creditor reference balance as_of overdue_since told_by',
          ),
        );
      await writeOutput(io, `Debt ${added.id} is on the list of application ${id}.\n`);
    });
  });
}

function addRemove(group: Command, { roles, io }: Cli): void {
  const command = addCommand(group, 'remove', 'take a debt out of the list', 'debt remove 346 7')
    .argument('<application>', 'the application', readApplicationId)
    .argument('<debt>', 'the id of the list', readPositive);
  withReason(command).action((id: ApplicationId, debt: number, options: Options) =>
    roles.operate(async (context) => {
      await acting(
        namedBy(options, context),
        (part) => removeDebt(part, id, debt),
        () => actOf('remove', id, options, debt),
      );
      if (options.json) return writeJson(io, { application_id: id, removed: debt });
      await writeOutput(io, `Debt ${debt} is not on the list of application ${id} any more.\n`);
    }),
  );
}

function addAccept(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'accept',
    'let the list be paid although its sum differs from the declared amount; also an empty list',
    'debt accept 346 --reason "the rest is for the applicant, ticket 4711"',
  )
    .argument('<application>', 'the application', readApplicationId)
    .requiredOption(
      '--reason <text>',
      'why, for the record of acts; without personal data',
      asArgument(checkReason),
    )
    .addOption(actorOption())
    .action((id: ApplicationId, options: Options) =>
      roles.operate(async (context) => {
        const debts = await acting(
          namedBy(options, context),
          (part) => acceptList(part, id),
          () => actOf('accept', id, options),
        );
        if (options.json) return writeJson(io, { application_id: id, debts });
        await writeOutput(
          io,
          `The list of application ${id} is accepted while it stays as it is. Run conversation give-back ${id}, and the offer is made.\n`,
        );
      }),
    );
}

function readBalance(text: string): string {
  if (!/^\d{1,15}(\.\d{1,3})?$/.test(text))
    throw new InvalidArgumentError('It must be a number such as 1500000 or 1500.50, without separators.');
  return text;
}

function readCurrency(text: string): string {
  const code = text.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code)) throw new InvalidArgumentError('It must be a code of three letters: COP.');
  return code;
}
