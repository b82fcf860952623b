/**
 * The commands `ventanilla application`: list, approve, reject, free-phone (D34; docs/operations.md, "Reviews and
 * leads"). `uses/applications.ts` does the work. Messages add `application show`, conversations `application disburse`.
 */
import type { Command } from 'commander';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import { actorOption, namedBy } from '../../../program/cli/actor-option.ts';
import { addCommand, type Cli } from '../../../program/cli/command.ts';
import { readApplicationId } from '../../../program/cli/id-arguments.ts';
import { writeJson, writeOutput } from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import { acting } from '../../../program/operations/acting.ts';
import { reviewApplication } from '../uses/applications.ts';
import { freePhone } from '../uses/free-phone.ts';
import { addList } from './application-list.ts';
import { addReviewCommand } from './review-command.ts';

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  for (const action of ['approve', 'reject'] as const) addReview(group, cli, action);
  addFreePhone(group, cli);
}

/** `ventanilla application free-phone`. */
function addFreePhone(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'free-phone',
    'free a phone that another phone blocks: two different phones may have one blind index',
    `application free-phone 12 --phone '+57 300 123 4567' --reason "another person's phone"`,
  )
    .argument('<id>', 'the open application with the other phone', readApplicationId)
    .requiredOption(
      '--phone <number>',
      'the phone that is refused as a duplicate, with its country code; "-" reads it from standard input',
    )
    .requiredOption('--reason <text>', 'the reason, which goes into the history')
    .addOption(actorOption())
    .action((id: ApplicationId, options: { phone: string; reason: string; as?: string; json?: boolean }) =>
      roles.operate(async (context) => {
        const phone = await hiddenValue(io, options.phone);
        const { reason } = options;
        await acting(
          namedBy(options, context),
          (part) => freePhone(part, id, { phone, reason }),
          () => ({ act: 'application free-phone', applicationId: id, reason: reason.trim() }),
        );
        if (options.json) return writeJson(io, { id, freed: true });
        await writeOutput(
          io,
          `The phone is free. Application ${id} stays open and holds no phone any more.\n`,
        );
      }),
    );
}

const REVIEWS = {
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
} as const;

/** Adds `ventanilla application approve` or `reject`. */
function addReview(group: Command, cli: Cli, action: Extract<ReviewAction, 'approve' | 'reject'>): void {
  addReviewCommand(
    group,
    cli,
    { action, ...REVIEWS[action] },
    (_, { reason, reasonCode }) =>
      async (named, id) =>
        acting(
          named,
          (part) => reviewApplication(part, id, action, reason, reasonCode),
          () => ({ act: `application ${action}`, applicationId: id, reason: reason.trim() }),
        ),
  );
}
