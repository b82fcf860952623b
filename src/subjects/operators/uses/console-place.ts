/**
 * Notes where the console of this machine is, for commands, which may have other variables than the service. The
 * service of an embedded store writes the file `console-origin` into DATA_DIR (docs/operators.md).
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'console-origin';

/** Notes the origin of the console that is open now. */
export function noteConsole(dataDir: string, origin: string): Promise<void> {
  return writeFile(join(dataDir, FILE), origin, { mode: 0o600 });
}

/**
 * Forgets the origin: the console is closed. If another service of the store has noted its own origin meanwhile, that
 * note stays.
 */
export async function forgetConsole(dataDir: string, origin: string): Promise<void> {
  if ((await notedConsole(dataDir)) === origin) await rm(join(dataDir, FILE), { force: true });
}

/** The origin that a service has noted; null: there is no note. */
export async function notedConsole(dataDir: string): Promise<string | null> {
  return readFile(join(dataDir, FILE), 'utf8').catch(() => null);
}
