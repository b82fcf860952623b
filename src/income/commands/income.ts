/** `ventanilla income`. */
import type { Command } from 'commander';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { withOffset } from '../../base/time.ts';
import { namedBy } from '../../cli/actor-option.ts';
import { addCommand, type Cli } from '../../cli/command.ts';
import { readApplicationId } from '../../cli/id-arguments.ts';
import { recordOf, shortTime, writeJson, writeOutput } from '../../cli/output.ts';
import { addReveal, MASK, type RevealOptions, revealReason } from '../../cli/reveal.ts';
import { writeAmount } from '../../documents/rules/amount.ts';
import { noting } from '../../operations/acting.ts';
import { type ShownIncome, showIncome } from '../uses/show-income.ts';

/** Adds the commands to their group. */
export function addIncomeCommands(group: Command, { roles, io }: Cli): void {
  const description = 'show how the observed income was compared with the declared one';
  addReveal(addCommand(group, 'show', description, 'income show 346'))
    .argument('<application>', 'the application', readApplicationId)
    .action((id: ApplicationId, options: RevealOptions & { json?: boolean }, command: Command) => {
      const why = revealReason(options, command);
      return roles.operate(async (context) => {
        const shown = await showIncome(context, id);
        if (why !== null) {
          await noting(namedBy(options, context), {
            ...{ act: 'income show --reveal', applicationId: id, reason: why },
          });
        }
        const json = incomeJson(id, shown, why !== null);
        await (options.json === true ? writeJson(io, json) : writeOutput(io, `${incomeText(json)}\n`));
      });
    });
}

/** The amounts of months tell a person to the platform that paid them, so they are masked. */
function incomeJson(id: ApplicationId, { check, evidence }: ShownIncome, isRevealed: boolean) {
  const amount = (hundredths: number | null) => hundredths && writeAmount(hundredths);
  return {
    application_id: id,
    checked_at: withOffset(check.checkedAt),
    method: check.method,
    outcome: check.outcome,
    reason: check.reason,
    currency: check.currency,
    declared: amount(check.declared),
    observed: amount(check.observed),
    months: check.months,
    confidence: check.confidence,
    reader: check.reader,
    policy: check.policyVersion,
    thresholds: check.rules,
    new_score: check.newScore,
    new_decision: check.newDecision,
    statements:
      evidence?.map(({ source, currency, issued, months }) => ({
        ...{ source, currency, issued },
        months: months.map((one) => ({
          month: one.month,
          amount: isRevealed ? writeAmount(one.amount) : MASK,
        })),
      })) ?? null,
  };
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
    ['Statements', statements?.join('\n') ?? 'erased, or cannot be opened'],
  ]);
}
