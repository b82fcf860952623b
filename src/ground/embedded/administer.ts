/**
 * Opens a session of the superuser with a server that runs already, for work on the cluster as a whole (docs/roles.md,
 * "The embedded store"). Reads postmaster.pid and the password's file, and connects over loopback.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Clock } from '../base/clock.ts';
import { USER } from './cluster.ts';
import { EmbeddedError } from './errors.ts';
import { readPassword } from './password.ts';
import { findPostmaster } from './postmaster.ts';
import { hangUp, login } from './session.ts';

export interface Administration {
  readonly clock: Clock;
  readonly client: pg.Client;
  /** The folder of the cluster's files. */
  readonly directory: string;
  /** The superuser's. */
  readonly password: string;
}

/** Runs `work` with a session of its own. Throws `EmbeddedError` if no server runs under `dataDir`. */
export async function administer<T>(
  dataDir: string,
  clock: Clock,
  work: (with_: Administration) => Promise<T>,
): Promise<T> {
  const home = await realpath(dataDir);
  const directory = join(home, 'postgres');
  const password = await readPassword(join(home, 'postgres.password'));
  const server = await findPostmaster(directory, clock);
  if (password === undefined || server?.ready !== true) {
    throw new EmbeddedError(`no PostgreSQL runs in ${directory}`);
  }
  const connection = { host: '127.0.0.1', port: server.port, user: USER, password, database: USER };
  const client = await login(connection, clock);
  try {
    return await work({ clock, client, directory, password });
  } finally {
    await hangUp(client, clock);
  }
}
