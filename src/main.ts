#!/usr/bin/env node
/**
 * The program's entry: builds the command line and runs it (docs/operations.md, "Commands"). Every command but `submit`
 * reads `.env`. The file is executable because npx may still have it as the command.
 */
import { existsSync } from 'node:fs';
// The one line of src that knows a package. It loads the name of the command; the rest is loaded if the arguments name
// the command.
import { submit } from '../packages/submit/src/command.ts';
import { buildProgram } from './app/program.ts';
import type { ProgramRoles } from './app/role-types.ts';
import { machineClock } from './ground/base/clock.ts';

const LEFT_OPEN_MS = 1_000;

// `submit` runs on machines without a service and in folders with files of strangers. An `.env` in such a folder could
// replace the API key or switch off the check of certificates. Options such as --debug may stand before the command.
const command = process.argv.slice(2).find((argument) => !argument.startsWith('-'));
if (command !== 'submit' && existsSync('.env')) {
  try {
    process.loadEnvFile('.env');
  } catch {
    process.stderr.write('error: .env must be a file that this user may read\n');
    process.exit(1);
  }
}

// The modules of the service load slowly, so `--help` runs without them.
const load = async () => (await import('./app/process-roles.ts')).processRoles();
const roles: ProgramRoles = {
  serve: async () => (await load()).serve(),
  worker: async () => (await load()).worker(),
  migrate: async (distribute) => (await load()).migrate(distribute),
  schema: async () => (await load()).schema(),
  observe: async (work) => (await load()).observe(work),
  backups: async () => (await load()).backups(),
  operate: async (work, secrets) => (await load()).operate(work, secrets),
  keepErasures: async (context) => (await load()).keepErasures(context),
  setting: async (setting) => (await load()).setting(setting),
  settings: async () => (await load()).settings(),
};
await buildProgram(roles, process, machineClock, [submit]).parseAsync();
// A handle that stays open after a failure (say, a connection to a server that hangs) would keep the process alive.
machineClock.after(LEFT_OPEN_MS, () => process.exit(), { ref: false });
