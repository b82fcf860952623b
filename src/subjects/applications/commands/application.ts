/** `ventanilla application`. Messages add `application show`. */
import type { Command } from 'commander';
import { REVIEW_ACTIONS } from '../../../domain/application/lifecycle.ts';
import type { Cli } from '../../../program/cli/command.ts';
import { addList } from './application-list.ts';
import { addFreePhone } from './application-phone.ts';
import { addReview } from './application-review.ts';

export function addApplicationCommands(group: Command, cli: Cli): void {
  addList(group, cli);
  for (const action of REVIEW_ACTIONS) addReview(group, cli, action);
  addFreePhone(group, cli);
}
