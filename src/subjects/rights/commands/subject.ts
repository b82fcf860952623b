/** `ventanilla subject`: what is stored about one person. */
import type { Command } from 'commander';
import type { Cli } from '../../../program/cli/command.ts';
import { addErase } from './subject-erase.ts';
import { addErasures } from './subject-erasures.ts';
import { addExport } from './subject-export.ts';

export function addSubjectCommands(group: Command, cli: Cli): void {
  addExport(group, cli);
  addErase(group, cli);
  addErasures(group, cli);
}
