/**
 * `ventanilla income`: shows the last check of an income, and accepts one (docs/income.md). Reveals and acceptances are
 * recorded.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { writeAmount } from '../../../domain/document/amount.ts';
import { named } from '../../../ground/base/named.ts';
import { actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { recordOf, shortTime, writeJson, writeOutput } from '../../../program/cli/output.ts';
import { addReveal, MASK, type RevealOptions, revealReason } from '../../../program/cli/reveal.ts';
import { acting, noting } from '../../../program/operations/acting.ts';
import { acceptIncome } from '../uses/accept-income.ts';
import { type ShownIncome, showIncome } from '../uses/show-income.ts';

/** Adds the commands to their group. */
export function addIncomeCommands(group: Command, cli: Cli): void {
  const { roles, io } = cli;
  addAccept(group, cli);
  const description = 'show how the observed income was compared with the declared one';
  addReveal(addCommand(group, 'show', description, 'income show 346'))
    .argument('<application>', 'the application', readApplicationId)
    .action((id: ApplicationId, options: RevealOptions & { json?: boolean }, command: Command) => {
      const why = revealReason(options, command);
      return roles.operate(async (context) => {
        const shown = await showIncome(context, id);
        if (why !== null) {
          await noting(namedBy(options, context), {
            act: 'income show --reveal',
            applicationId: id,
            reason: why,
          });
        }
        const json = incomeJson(id, shown, why !== null);
        await (options.json === true ? writeJson(io, json) : writeOutput(io, `${incomeText(json)}\n`));
      });
    });
}

interface AcceptOptions {
  readonly reason: string;
  readonly as?: string;
  readonly json?: boolean;
}

function addAccept(group: Command, { roles, io }: Cli): void {
  const example = 'income accept 346 --reason "two months of an illness, seen the papers"';
  addCommand(group, 'accept', 'let the income count as it was observed', example)
    .argument('<application>', 'the application', readApplicationId)
    .requiredOption('--reason <text>', 'the reason, which goes into the record of acts')
    .addOption(actorOption())
    .action((id: ApplicationId, options: AcceptOptions) =>
      roles.operate(async (context) => {
        const { reason } = await acting(
          namedBy(options, context),
          (part) => acceptIncome(part, id, options.reason),
          () => ({ act: 'income accept', applicationId: id, reason: options.reason.trim() }),
        );
        await (options.json === true
          ? writeJson(io, { application_id: id, accepted: reason })
          : writeOutput(
              io,
              `The income of application ${id} counts as it was observed (${reason}).\n` +
                `Now give its conversation back: ventanilla conversation give-back ${id}\n`,
            ));
      }),
    );
}

/** The amounts of months identify a person to the platform that paid them, so they are masked. */
function incomeJson(id: ApplicationId, { check, evidence }: ShownIncome, isRevealed: boolean) {
  const amount = (hundredths: number | null) => hundredths && writeAmount(hundredths);
  const told = {
    ...check,
    applicationId: id,
    declared: amount(check.declared),
    observed: amount(check.observed),
    policy: check.policyVersion,
    thresholds: check.rules,
    acceptedBy: check.accepted?.by ?? null,
    acceptedAt: check.accepted?.at ?? null,
    statements:
      evidence?.map(({ months, ...one }) => ({
        ...one,
        months: months.map((of) => ({ ...of, amount: isRevealed ? writeAmount(of.amount) : MASK })),
      })) ?? null,
  };
  return named(told, [
    'application_id checked_at method outcome reason currency declared observed months confidence reader policy',
    { thresholds: '*' },
    'new_score new_decision accepted_by accepted_at',
    { statements: ['source currency issued', { months: 'month amount' }] },
  ]);
}

function incomeText(json: ReturnType<typeof incomeJson>): string {
  const statements = json.statements?.map(({ source, currency, months }) =>
    [`${source} ${currency ?? ''}`, ...months.map(({ month, amount }) => `  ${month} ${amount}`)].join('\n'),
  );
  return recordOf([
    ['Application', json.application_id],
    ['Checked', shortTime(new Date(json.checked_at))],
    ['Outcome', json.outcome],
    ['Reason', json.reason],
    ['Method', json.method],
    ['Currency', json.currency],
    ['Declared', json.declared],
    ['Observed', json.observed],
    ['Whole months', json.months],
    ['Confidence', json.confidence],
    ['Read by', json.reader],
    ['Policy', json.policy],
    ['New score', json.new_score],
    ['New decision', json.new_decision],
    ['Accepted by', json.accepted_by],
    ['Statements', statements?.join('\n') ?? 'erased, or cannot be opened'],
  ]);
}
