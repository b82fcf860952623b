#!/usr/bin/env node
/** The program: runs the command, and reads `.env` but for `submit`. Executable: npx remembers that it was the command once. */
import { existsSync } from 'node:fs';

const LEFT_OPEN_MS = 1_000;

// `submit` is used where no service runs, and beside files of strangers. It starts without the modules of the service,
// in half of the time, and without `.env`: one that lies beside the file could say whose key is used, or that no
// certificate is checked.
if (process.argv[2] === 'submit') {
  const { submitProgram } = await import('./cli/submit.ts');
  await submitProgram(process).parseAsync();
} else {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const [{ buildProgram }, { processRoles }] = await Promise.all([
    import('./cli/program.ts'),
    import('./roles.ts'),
  ]);
  await buildProgram(processRoles(), process).parseAsync();
}
// Whatever is left open after a failure, a connection to a server that hangs say, does not keep the process alive.
setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
