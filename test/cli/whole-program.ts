/** The program with all commands loaded, also those that it loads only when named. */
import { submit } from '../../packages/submit/src/command.ts';
import { buildProgram } from '../../src/app/program.ts';
import type { ProgramRoles } from '../../src/app/role-types.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Program } from '../../src/program/cli/command.ts';
import { Sink } from './harness.ts';

export async function wholeProgram(roles: ProgramRoles): Promise<Program> {
  const program = buildProgram(roles, { stdout: new Sink(), stderr: new Sink() }, machineClock, [submit]);
  await program.parseAsync(['help', ...program.commands.map((command) => command.name())], { from: 'user' });
  return program;
}
