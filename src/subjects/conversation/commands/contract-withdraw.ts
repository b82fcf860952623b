/**
 * `ventanilla contract withdraw`: records a withdrawal by letter, e-mail or call (docs/signing.md, "The signature").
 * The command is here because the conversation of the application hears of it.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type ActorOptions, actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, asArgument, type Cli, readDay } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { writeJson, writeOutput } from '../../../program/cli/output.ts';
import { acting } from '../../../program/operations/acting.ts';
import { checkReason } from '../../../program/operations/operator-context.ts';
import { recordWithdrawal, type WithdrawalRecord } from '../uses/signed/record-withdrawal.ts';
import { speaking } from './speaking.ts';

interface Options extends ActorOptions {
  readonly reason: string;
  readonly received?: string;
  readonly late?: boolean;
  readonly json?: boolean;
}

/** Adds the command to the group of the contracts. */
export function addWithdraw(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'withdraw',
    'record that the person withdrew from the signed contract by letter, e-mail or call',
    'contract withdraw 12 --received 2026-11-20 --reason "letter, ticket 4711"',
  )
    .argument('<application>', 'the application', readApplicationId)
    .requiredOption(
      '--reason <text>',
      'how it came, for the history and the record of acts; without personal data',
      asArgument(checkReason),
    )
    .option('--received <date>', "the day that counts, by the country's clock; default: today", readDay)
    .option('--late', 'take it also where the time to withdraw was over by then')
    .addOption(actorOption())
    .action((id: ApplicationId, { reason, received, late, ...options }: Options) =>
      roles.operate(async (context) => {
        const given = { reason, day: received ?? null, acceptsLate: late === true };
        const done = await acting(
          namedBy(options, context),
          (part) => recordWithdrawal(speaking(roles, part), id, given),
          ({ isNew }) => (isNew ? { act: 'contract withdraw', applicationId: id, reason } : null),
        );
        await (options.json
          ? writeJson(io, jsonOf(id, done))
          : writeOutput(io, `${sentencesOf(id, done).join('\n')}\n`));
      }),
    );
}

function jsonOf(id: ApplicationId, { result, by, received, isLate, isNew, isTold }: WithdrawalRecord) {
  return { application_id: id, result, recorded: isNew, by, received, late: isLate, told: isTold };
}

function sentencesOf(id: ApplicationId, { result, by, isNew, isTold }: WithdrawalRecord): string[] {
  const contract = `the contract of application ${id}`;
  if (!isNew) {
    const who = by === 'applicant' ? 'The person has withdrawn' : 'An operator has recorded the withdrawal';
    return [`${who} from ${contract} already: nothing has changed.`];
  }
  const what =
    result === 'withdrawn'
      ? `The withdrawal from ${contract} is recorded, and the application is rejected.`
      : `The withdrawal from ${contract} is recorded. The money was paid out before: settle it with the person.`;
  return [
    what,
    isTold ? 'The chat tells the person.' : 'The service does not tell the person: tell them yourself.',
  ];
}
