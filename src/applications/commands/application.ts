/** `ventanilla application`, with `application show`. */

import type { Command } from 'commander';
import { namedBy } from '../../cli/actor-option.ts';
import { addCommand, type Cli } from '../../cli/command.ts';
import { readApplicationId } from '../../cli/id-arguments.ts';
import { writeJson } from '../../cli/output.ts';
import { addReveal, type RevealOptions, revealReason } from '../../cli/reveal.ts';
import { noting } from '../../operations/acting.ts';
import type { ApplicationId } from '../rules/ids.ts';
import { REVIEW_ACTIONS } from '../rules/lifecycle.ts';
import { showApplication } from '../uses/applications.ts';
import { addList } from './application-list.ts';
import { addFreePhone } from './application-phone.ts';
import { addReview } from './application-review.ts';
import { explainedJson, masked, tellFaults, writeExplained } from './application-view.ts';

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  addShow(group, cli);
  for (const action of REVIEW_ACTIONS) addReview(group, cli, action);
  addFreePhone(group, cli);
}

function addShow(group: Command, { roles, io }: Cli): void {
  addReveal(
    addCommand(group, 'show', 'show an application, its points and its history', 'application show 12'),
  )
    .argument('<id>', 'the application', readApplicationId)
    .action(
      (id: ApplicationId, { json, ...options }: { json?: boolean } & RevealOptions, command: Command) => {
        const why = revealReason(options, command);
        return roles.operate(async (context) => {
          const found = await showApplication(context, id);
          if (why !== null)
            await noting(namedBy(options, context), {
              act: 'application show --reveal',
              applicationId: id,
              reason: why,
            });
          const application = why === null ? masked(found) : found;
          if (json) await writeJson(io, explainedJson(application));
          else await writeExplained(io, application);
          tellFaults(io, application.fault === null ? [] : [id]);
        });
      },
    );
}
