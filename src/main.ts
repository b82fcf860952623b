#!/usr/bin/env node
/** The program: reads `.env` and runs the command. Executable: npx remembers that it was the command once. */
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile('.env');
// `submit` is used where no service runs: it starts without the modules of the service, in half of the time.
if (process.argv[2] === 'submit') {
  const { submitProgram } = await import('./cli/submit.ts');
  await submitProgram(process).parseAsync();
} else {
  const [{ buildProgram }, { processRoles }] = await Promise.all([
    import('./cli/program.ts'),
    import('./roles.ts'),
  ]);
  await buildProgram(processRoles(), process).parseAsync();
}
