/** A PostgreSQL that speaks French. The embedded server has no translations, so this is Debian's. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { debianServers, startDebianServer } from './debian-server.ts';

const LANGUAGE = 'fr_FR';
const LOCALE = `${LANGUAGE}.UTF-8`;

const bin = debianServers.find((folder) =>
  existsSync(`/usr/share/locale/fr/LC_MESSAGES/postgres-${folder.split('/').at(-2)}.mo`),
);
const canTranslate = bin !== undefined && existsSync(`/usr/share/i18n/locales/${LANGUAGE}`);

/** For `describe`: why there is no such server, or false. */
export const skip =
  !canTranslate && 'no PostgreSQL with translations is installed (apt-get install postgresql locales)';

/** Starts the server. `stop` ends and removes it. */
export function startFrenchServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const prepare = async (folder: string) => {
    const locales = join(folder, 'locales');
    await mkdir(locales);
    execFileSync('localedef', ['-i', LANGUAGE, '-f', 'UTF-8', join(locales, LOCALE)]);
    return { initdb: ['--locale=C', `--lc-messages=${LOCALE}`], env: { LOCPATH: locales } };
  };
  return startDebianServer({ bin: bin as string, prepare });
}
