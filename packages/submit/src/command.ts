/** The part of `ventanilla submit` in the program. */
import { describeSubmit } from '../../program/cli/command.ts';
import type { Subject } from '../../program/subject/subject.ts';

export const bulk: Subject = {
  commands: [
    {
      command: (program) => describeSubmit(program.command('submit')),
      load: async () => (await import('./commands/submit.ts')).fillSubmit,
    },
  ],
};
