/**
 * Makes a cluster from restored files: PostgreSQL recovers it from its log; then the cluster takes its place or is
 * dropped. Touches files and processes. src/subjects/backup/README.md has the rule.
 */

import { mkdir, realpath, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, DAY_MS } from '../base/clock.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { discard, keepYoung, temporaryBeside } from '../files/temporary.ts';
import { giveTree, serverAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, syncCluster } from './cluster.ts';
import { explainPath } from './errors.ts';
import { connectionTo, timeoutError } from './join.ts';
import { keepPassword } from './password.ts';
import { findPostmaster } from './postmaster.ts';
import { recoveredIn } from './recoveries.ts';
import { stopPostmaster } from './server.ts';
import type { EmbeddedConnection } from './session.ts';
import { startPostmaster } from './start.ts';

export interface Recovery {
  readonly clock: Clock;
  /** The folder that holds the cluster while it is made; with `keep` it is the data directory. It exists. */
  readonly home: string;
  /** The superuser's password in the restored files. */
  readonly password: string;
  /** The end of the recovery; undefined: the end of the log. */
  readonly until?: Date | undefined;
  /** False: the cluster is removed in the end. */
  readonly keep: boolean;
  /** Writes the files, with `backup_label`, and with the log in `pg_wal`, into the folder. */
  readonly fill: (directory: string) => Promise<void>;
  /** Ends the recovery early. */
  readonly signal: AbortSignal;
  /** Checks the recovered database. If it throws, the cluster is removed. */
  readonly check: (connection: EmbeddedConnection) => Promise<void>;
}

/** Recovery reads the whole log. The log of one day of a busy store takes a part of a day to read. */
const RECOVERY_TIMEOUT_MS = DAY_MS;
const STOP_TIMEOUT_MS = 5 * 60_000;

/**
 * Recovers the files and gives them to `check`. With `keep` the cluster then takes its place in `home`, as a whole or
 * not at all. Throws `EmbeddedError` if PostgreSQL does not recover, the reason of `signal`, and the errors of `fill`
 * and `check`.
 */
export async function recoverCluster(recovery: Recovery): Promise<void> {
  const { clock } = recovery;
  const home = await realpath(recovery.home);
  const directory = temporaryBeside(recoveredIn(home));
  const letAge = keepYoung(directory, clock);
  const cluster: Cluster = {
    clock,
    directory,
    logFile: join(home, 'postgres.log'),
    passwordFile: join(home, 'postgres.password'),
    password: recovery.password,
    account: serverAccount(),
    binaries: await findBinaries(serverAccount(), clock),
  };
  try {
    await mkdir(directory, { mode: 0o700 });
    await recovery.fill(directory);
    await writeFile(join(directory, 'recovery.signal'), '', { mode: 0o600 });
    if (cluster.account !== undefined) await giveTree(directory, cluster.account);
    await syncCluster(cluster);
    await run(cluster, recovery);
    if (recovery.keep) {
      await keepPassword(cluster.passwordFile, recovery.password);
      await rename(directory, join(home, 'postgres'));
      await syncDirectory(home);
    }
  } catch (error) {
    recovery.signal.throwIfAborted();
    throw explainPath(error, (error as NodeJS.ErrnoException).path ?? home);
  } finally {
    await stopAnyway(cluster);
    letAge();
    await discard(directory);
  }
}

async function run(cluster: Cluster, { until, check, signal, clock }: Recovery): Promise<void> {
  const deadline = clock.monotonicMs() + RECOVERY_TIMEOUT_MS;
  await startPostmaster(cluster, deadline, { signal, settings: recoverySettings(until) });
  const server = await findPostmaster(cluster.directory, clock);
  if (server?.ready !== true) throw await timeoutError(cluster, 'did not recover');
  await check(connectionTo(cluster, server.port));
  await stopPostmaster(cluster, server.pid, clock.monotonicMs() + STOP_TIMEOUT_MS);
}

/**
 * The whole log is in `pg_wal`, so the command that PostgreSQL calls for more of it finds nothing. The log has one
 * timeline; history files of other timelines may lie beside it.
 */
function recoverySettings(until: Date | undefined): string[] {
  const settings = [
    ...['restore_command=false', 'recovery_target_timeline=current'],
    ...['recovery_target_action=promote', 'hot_standby=off'],
  ];
  if (until !== undefined)
    settings.push(`recovery_target_time=${until.toISOString().replace('Z', '+00:00')}`);
  return settings.flatMap((setting) => ['-c', setting]);
}

/** Stops a server whose files nobody will use; a failure does not matter. */
async function stopAnyway(cluster: Cluster): Promise<void> {
  const { clock } = cluster;
  const server = await findPostmaster(cluster.directory, clock).catch(() => undefined);
  if (server !== undefined && server.pid > 0) {
    await stopPostmaster(cluster, server.pid, clock.monotonicMs() + STOP_TIMEOUT_MS).catch(() => {});
  }
}
