/** The program with all commands loaded, also those that it loads only when named. */

import { buildProgram } from '../../src/app/program.ts';
import type { Program } from '../../src/cli/command.ts';
import type { Roles } from '../../src/cli/role-types.ts';
import { Sink } from './harness.ts';

export async function wholeProgram(roles: Roles): Promise<Program> {
  const program = buildProgram(roles, { stdout: new Sink(), stderr: new Sink() });
  await program.parseAsync(['help', ...program.commands.map((command) => command.name())], { from: 'user' });
  return program;
}
