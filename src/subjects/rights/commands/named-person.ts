/** The options that name a person: `--phone` or `--id-number`, also by standard input. */
import type { Command } from 'commander';
import { counted } from '../../../ground/base/counted.ts';
import type { Io } from '../../../program/cli/output.ts';
import { hiddenValue } from '../../../program/cli/reveal.ts';
import type { Asked } from '../uses/find-applications.ts';

export interface NamedOptions {
  readonly phone?: string;
  readonly idNumber?: string;
}

const STDIN = '"-" reads it from standard input';

/** Adds the two options. */
export function addNamed(command: Command): Command {
  return command
    .option('--phone <number>', `the phone, with country code or as dialled at home; ${STDIN}`)
    .option('--id-number <text>', `the citizen ID number, in any spelling; ${STDIN}`);
}

/** Ends with a wrong use unless exactly one of the two is given. */
export function requireOne({ phone, idNumber }: NamedOptions, command: Command): void {
  if ((phone === undefined) === (idNumber === undefined)) {
    command.error('error: name the person either by --phone or by --id-number');
  }
}

export async function readAsked(io: Io, { phone, idNumber }: NamedOptions): Promise<Asked> {
  if (phone !== undefined) return { phone: await hiddenValue(io, phone) };
  return { idNumber: await hiddenValue(io, idNumber ?? '') };
}

/** `Found 4 applications, with the ID number in 3 spellings.` */
export function foundText({ phone }: NamedOptions, applications: number, spellings: number): string {
  const what = phone === undefined ? 'ID number' : 'phone';
  return `Found ${counted(applications, 'application')}, with the ${what} in ${counted(spellings, 'spelling')}.`;
}
