/** A PostgreSQL of Debian's package, on a cluster with the settings that it comes with. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** The account of a server that root starts. */
const NOBODY = 65_534;

/** The folders of the programs of the installed versions, the newest first. */
export const debianServers: readonly string[] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();

/** For `describe`: why there is no such server, or false. */
export const skip = debianServers.length === 0 && 'no PostgreSQL is installed (apt-get install postgresql)';

interface Options {
  /** Of `debianServers`. */
  readonly bin: string;
  /** Makes what the cluster needs in a folder. Returns further arguments of initdb, and variables of both programs. */
  readonly prepare?: (
    folder: string,
  ) => Promise<{ readonly initdb: string[]; readonly env: NodeJS.ProcessEnv }>;
  /** `name=value`. */
  readonly settings?: readonly string[];
}

/** Starts the server with a superuser `postgres`, who needs no password. `stop` ends and removes it. */
export async function startDebianServer({ bin, prepare, settings = [] }: Options) {
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-debian-'));
  const data = join(folder, 'data');
  const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in account) await chown(folder, NOBODY, NOBODY);
  const { initdb, env } = (await prepare?.(folder)) ?? { initdb: [], env: {} };
  const options = {
    cwd: folder,
    env: { PATH: `${bin}:/usr/bin:/bin`, ...env },
    stdio: 'ignore' as const,
    ...account,
  };
  const words = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', ...initdb];
  execFileSync('initdb', words, options);
  const port = await freePort();
  const own = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  const server = spawn('postgres', ['-D', data, ...own.flatMap((setting) => ['-c', setting])], options);
  const stop = async () => {
    if (server.exitCode === null) {
      const exit = once(server, 'exit');
      server.kill('SIGINT');
      await exit;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await eventually("Debian's server", () => answers(url));
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
