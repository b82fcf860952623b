/** A PostgreSQL that speaks French. The embedded server has no translations, so this is Debian's. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

const LANGUAGE = 'fr_FR';
const LOCALE = `${LANGUAGE}.UTF-8`;
/** The account of a server that root starts. */
const NOBODY = 65_534;

const bin = globSync('/usr/lib/postgresql/*/bin').find((folder) =>
  existsSync(`/usr/share/locale/fr/LC_MESSAGES/postgres-${folder.split('/').at(-2)}.mo`),
);
const canTranslate = bin !== undefined && existsSync(`/usr/share/i18n/locales/${LANGUAGE}`);

/** For `describe`: why there is no such server, or false. */
export const skip =
  !canTranslate && 'no PostgreSQL with translations is installed (apt-get install postgresql locales)';

/** Starts the server. `stop` ends and removes it. */
export async function startFrenchServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-french-'));
  const [data, locales] = [join(folder, 'data'), join(folder, 'locales')];
  await mkdir(locales);
  const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in account) await chown(folder, NOBODY, NOBODY);
  const path = `${bin}:/usr/bin:/bin`;
  execFileSync('localedef', ['-i', LANGUAGE, '-f', 'UTF-8', join(locales, LOCALE)], { env: { PATH: path } });
  const options = { cwd: folder, env: { PATH: path, LOCPATH: locales }, ...account };
  const words = ['--locale=C', `--lc-messages=${LOCALE}`, '--encoding=UTF8'];
  execFileSync('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', ...words], {
    ...options,
    stdio: 'ignore',
  });
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'jit=off'];
  const flags = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn('postgres', flags, { ...options, stdio: 'ignore' });
  const stop = async () => {
    if (server.exitCode === null) {
      const exit = once(server, 'exit');
      server.kill('SIGINT');
      await exit;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await eventually('the French server', () => answers(url));
  return { url, stop };
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
