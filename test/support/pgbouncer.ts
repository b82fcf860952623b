/** A real PgBouncer before the tests' server, in any of its modes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';

/** `PGBOUNCER` names the program of another version. */
const PROGRAM = ['pgbouncer', '/usr/sbin/pgbouncer'];
const found = [process.env.PGBOUNCER, ...PROGRAM].find(
  (path) => path !== undefined && spawnSync(path, ['--version']).status === 0,
);

/** For `describe`: why there is no PgBouncer, or false. */
export const skip = found === undefined && 'no PgBouncer is installed (apt-get install pgbouncer)';

/** Whether PgBouncer supports prepared statements in transaction mode, as it does by default from 1.24 on. */
export const bringsStatements = (() => {
  if (found === undefined) return false;
  const [, major, minor] =
    /PgBouncer (\d+)\.(\d+)/.exec(String(spawnSync(found, ['--version']).stdout)) ?? [];
  return Number(major) > 1 || Number(minor) >= 24;
})();

/** Fewer sessions than the service has connections, so that connections share sessions. */
const SESSIONS = { session: 20, transaction: 3 } as const;

/** A URL that leads to the database of `url` through a new PgBouncer, until the test is over. */
export async function pooledUrl(t: TestContext, url: string, mode: keyof typeof SESSIONS): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-pgbouncer-'));
  const target = new URL(url);
  const [user, password] = [target.username, decodeURIComponent(target.password)];
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    // A server that asks for no password gets none.
    auth_type: password === '' ? 'trust' : 'plain',
    auth_file: join(folder, 'users'),
    pool_mode: mode,
    default_pool_size: SESSIONS[mode],
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const ini = `[databases]\n* = host=${target.hostname} port=${target.port}\n[pgbouncer]\n${lines.join('\n')}\n`;
  await writeFile(join(folder, 'users'), `"${user}" "${password}"\n`);
  await writeFile(join(folder, 'pgbouncer.ini'), ini);
  await chmod(folder, 0o755);
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const options = { cwd: folder, stdio: 'ignore', ...account } as const;
  const child = spawn(found as string, ['--quiet', 'pgbouncer.ini'], options);
  t.after(async () => {
    const exit = once(child, 'exit');
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await exit;
    }
    await rm(folder, { recursive: true, force: true });
  });
  target.hostname = '127.0.0.1';
  target.port = String(port);
  await eventually('PgBouncer', () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with code ${child.exitCode}`);
    return answers(port);
  });
  return target.href;
}

/** Connects: to listen on the port would keep PgBouncer from listening on it at that moment. */
async function answers(port: number): Promise<boolean> {
  const probe = connect(port, '127.0.0.1');
  try {
    await once(probe, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    probe.destroy();
  }
}
