/** The command `submit`, as the program's list of commands takes it (src/main.ts). */
import { describeSubmit } from '../../../src/program/cli/command.ts';
import type { Commands } from '../../../src/program/subject/subject.ts';

export const submit: Commands = {
  command: (program) => describeSubmit(program.command('submit')),
  load: async () => (await import('./commands/submit.ts')).fillSubmit,
};
