/** `ventanilla application approve`, `reject` and `disburse`. */
import type { Command } from 'commander';
import type { ReviewAction } from '../domain/application/lifecycle.ts';
import { REASON_CODES, type ReasonCode } from '../domain/application/reason-codes.ts';
import { reviewApplication } from '../usecases/applications.ts';
import { addCommand, type Cli, choiceOption, readPositive } from './command.ts';
import { writeJson, writeOutput } from './output.ts';

interface ActionTexts {
  readonly description: string;
  readonly reason: string;
  readonly code: ReasonCode;
}

const ACTION_TEXTS: Readonly<Record<ReviewAction, ActionTexts>> = {
  approve: {
    description: 'approve an application in review, and tell the applicant',
    reason: 'income confirmed by bank',
    code: 'income_verified',
  },
  reject: {
    description: 'reject an open application, and tell the applicant; its phone is free again',
    reason: 'documents are forged',
    code: 'documents_invalid',
  },
  disburse: {
    description: 'mark a signed application as paid out; its phone is free again',
    reason: 'paid, ref 4711',
    code: 'funds_transferred',
  },
};

/** Adds the command of a review. */
export function addReview(group: Command, { roles, io }: Cli, action: ReviewAction): void {
  const { description, reason, code } = ACTION_TEXTS[action];
  const example = `application ${action} 12 --reason "${reason}" --reason-code ${code}`;
  addCommand(group, action, description, example)
    .argument('<id>', 'the application', readPositive)
    .requiredOption('--reason <text>', 'the reason, which goes into the history; the partner does not see it')
    .addOption(
      choiceOption(
        '--reason-code <code>',
        'the code that the partner sees; default unspecified',
        REASON_CODES[action],
      ),
    )
    .action((id: number, options: { reason: string; reasonCode?: ReasonCode; json?: boolean }) =>
      roles.operate(async (context) => {
        const { from, to, reasonCode } = await reviewApplication(
          context,
          id,
          action,
          options.reason,
          options.reasonCode,
        );
        if (options.json) return writeJson(io, { id, status: to, action, from, to, reason_code: reasonCode });
        await writeOutput(io, `Application ${id} went from ${from} to ${to}.\n`);
      }),
    );
}
