/**
 * The program `ventanilla-submit`: `submit` alone, for partners. It reads no `.env`, for the reason that
 * `src/main.ts` gives.
 */

import { machineClock } from '../../../src/ground/base/clock.ts';
import { version } from '../../../src/ground/base/version.ts';
import { describeSubmit, Program } from '../../../src/program/cli/command.ts';
import { fillSubmit } from './commands/submit.ts';

const NAME = 'ventanilla-submit';

// Node 22 calls SQLite experimental. The lock of the journal uses nothing of it that may change.
const printers = process.listeners('warning');
process.removeAllListeners('warning').on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') for (const print of printers) print(warning);
});

const program = describeSubmit(new Program(NAME, process)).version(version());
fillSubmit(program, { io: process, clock: machineClock });
await program.parseAsync();
