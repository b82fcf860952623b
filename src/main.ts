#!/usr/bin/env node
/** The program: runs the command, and reads `.env` but for `submit`. Executable: npx remembers that it was the command once. */
import { existsSync } from 'node:fs';
import { buildProgram } from './cli/program.ts';
import type { Roles } from './cli/role-types.ts';

const LEFT_OPEN_MS = 1_000;

// `submit` is used where no service runs, and beside files of strangers. An `.env` that lies beside the file could say
// whose key is used, or that no certificate is checked.
if (process.argv[2] !== 'submit' && existsSync('.env')) process.loadEnvFile('.env');

// The modules of the service take longer to load than the help of a command takes to write.
const load = async () => (await import('./app/process-roles.ts')).processRoles();
const roles: Roles = {
  serve: async () => (await load()).serve(),
  worker: async () => (await load()).worker(),
  migrate: async (distribute) => (await load()).migrate(distribute),
  operate: async (work) => (await load()).operate(work),
};
await buildProgram(roles, process).parseAsync();
// Whatever is left open after a failure, a connection to a server that hangs say, does not keep the process alive.
setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
