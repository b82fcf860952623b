/**
 * Notes where the pages of this machine are, for commands, which may have other variables than the service. The service
 * of an embedded store writes the files `console-origin` and `portal-origin` into DATA_DIR (docs/operators.md).
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Whose } from '../../../domain/operator/session.ts';

const FILES: Readonly<Record<Whose, string>> = { operator: 'console-origin', partner: 'portal-origin' };

/** Notes the origin of a page that is open now. */
export function notePlace(dataDir: string, whose: Whose, origin: string): Promise<void> {
  return writeFile(join(dataDir, FILES[whose]), origin, { mode: 0o600 });
}

/**
 * Forgets the origin: the page is closed. If another service of the store has noted its own origin meanwhile, that note
 * stays.
 */
export async function forgetPlace(dataDir: string, whose: Whose, origin: string): Promise<void> {
  if ((await notedPlace(dataDir, whose)) === origin) await rm(join(dataDir, FILES[whose]), { force: true });
}

/** The origin that a service has noted; null: there is no note. */
export async function notedPlace(dataDir: string, whose: Whose): Promise<string | null> {
  return readFile(join(dataDir, FILES[whose]), 'utf8').catch(() => null);
}
