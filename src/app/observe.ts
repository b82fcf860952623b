/**
 * Opens the database for commands that only read it, as it is, without a migration and without secrets
 * (docs/monitoring.md, "ventanilla status"). Touches the network; starts the embedded server if it does not run.
 */
import type { Clock } from '../ground/base/clock.ts';
import { describeError } from '../ground/base/describe-error.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';
import { isServerTrouble } from '../ground/postgres/store-trouble.ts';
import { schemaFit } from '../ground/schema/migrations.ts';
import type { StoreView } from '../program/operations/operator-context.ts';
import type { Config } from './config/config.ts';
import { NoStoreError, openTables, requireTables, type StoreUser } from './open-store.ts';
import { roleFault } from './prepare-tables.ts';

/** How long to wait for an operator's own server that does not answer. The embedded one may have to start first. */
const ANSWERS_WITHIN_MS = 3_000;
const STARTS_WITHIN_MS = 60_000;

/** Lets `work` read the database. Throws if the settings are wrong, and `NoStoreError` if there is no store. */
export async function observe<T>(
  config: Config,
  clock: Clock,
  work: (view: StoreView) => Promise<T>,
): Promise<T> {
  const signal = clock.timeout(config.databaseUrl === null ? STARTS_WITHIN_MS : ANSWERS_WITHIN_MS);
  let reason: string | null = null;
  const user: StoreUser = {
    kind: 'command',
    makes: 'nothing',
    signal,
    clock,
    notice: (text) => {
      reason = text;
    },
    lost: () => {},
    onError: () => {},
  };
  const opened = await openFilled(config, user).catch((error: unknown) => {
    if (error instanceof NoStoreError) throw error;
    if (!signal.aborted && !isServerTrouble(error) && !(error instanceof SetupError)) throw error;
    return reason ?? describeError(error);
  });
  if (typeof opened === 'string') return work({ unreachable: opened });
  const { database, place, close } = opened;
  try {
    return await work({
      database,
      place,
      schema: () => schemaFit(database),
      roleFault: async () => (await roleFault(database))?.text ?? null,
    });
  } finally {
    await close();
  }
}

async function openFilled(config: Config, user: StoreUser) {
  const opened = await openTables(config, user);
  try {
    await requireTables(opened);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}
