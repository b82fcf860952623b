/**
 * Where the console of this machine is, for the commands, which may have other variables than the service: the service
 * of an embedded store notes it in the folder of the data.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'console-origin';

/** Notes the origin of the console that is open now. */
export function noteConsole(dataDir: string, origin: string): Promise<void> {
  return writeFile(join(dataDir, FILE), origin, { mode: 0o600 });
}

/** The console is closed. Where another service of the store has noted its own one meanwhile, that one stays. */
export async function forgetConsole(dataDir: string, origin: string): Promise<void> {
  if ((await notedConsole(dataDir)) === origin) await rm(join(dataDir, FILE), { force: true });
}

/** The origin that a service has noted; null: none. */
export async function notedConsole(dataDir: string): Promise<string | null> {
  return readFile(join(dataDir, FILE), 'utf8').catch(() => null);
}
