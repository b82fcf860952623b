/**
 * Does the work of the backup commands of the embedded store: create, verify, restore. Touches files, the place of the
 * backups, the embedded server and the record of acts. docs/backup.md has the rule.
 */
import { setPriority } from 'node:os';
import type { Clock } from '../../ground/base/clock.ts';
import { administer } from '../../ground/embedded/administer.ts';
import { openEmbedded } from '../../ground/embedded/server.ts';
import type { EmbeddedConnection } from '../../ground/embedded/session.ts';
import type { Place } from '../../ground/places/place.ts';
import type { Database } from '../../ground/postgres/database.ts';
import { migrate, schemaFit } from '../../ground/schema/migrations.ts';
import { noting } from '../../program/operations/acting.ts';
import type { OperatorContext } from '../../program/operations/operator-context.ts';
import { checkSecrets } from '../../seal/secrets.ts';
import { secretsOfDataDir } from '../../seal/secrets-file.ts';
import { type Secrets, Vault } from '../../seal/vault.ts';
import type { BackupActs } from '../../subjects/backup/commands/backup.ts';
import { createBackup } from '../../subjects/backup/create.ts';
import { BackupError } from '../../subjects/backup/errors.ts';
import { type Restored, restoreBackup } from '../../subjects/backup/restore.ts';
import type { BackupKey } from '../../subjects/backup/sealed.ts';
import { verifyBackup } from '../../subjects/backup/verify.ts';
import { type Replayed, unknownPhonesText } from '../../subjects/rights/uses/replay-erasures.ts';
import { reindex } from '../../subjects/vault/uses/reindex.ts';
import type { Config } from '../config/config.ts';
import { requireCluster } from '../open-store.ts';
import { loadWitnesses } from '../subjects.ts';
import { type Ended, endAgain, type Later, NOTHING_ENDED, readLater, unknownLaterText } from './endings.ts';
import { copyErasures, countErasures, eraseAgain } from './erasures.ts';
import { copyAllFiles, type FileCounts, fileFault, takeFiles } from './file-copies.ts';
import { filePlace, placeAndKey } from './place.ts';
import { withDatabase } from './with-database.ts';

/** The command's priority is lower than that of requests, which continue beside it. */
const PRIORITY = 10;
/** A low priority is not enough: a backup that never rests takes a quarter of the registrations on two cores. */
const REST = 4;

/** The work of the commands. */
export function backupActs(config: Config, actor: string, clock: Clock): BackupActs {
  const { backup, dataDir } = config;
  return {
    async create(to) {
      refuseOwnDatabase(config);
      const options = { ...(await placeAndKey(backup, to, clock)), keepLog: false, rest: REST };
      await requireCluster(dataDir);
      setPriority(PRIORITY);
      const server = await openEmbedded({ dataDir, clock });
      try {
        await recordCreate(server.superuser, config, { actor, clock });
        const created = await untilSignal((signal) =>
          administer(dataDir, clock, (session) => createBackup(session, { ...options, signal })),
        );
        await copyErasures(server.superuser, await secretsOf(config, clock), options, clock);
        return { ...created, files: await copyFiles(server.superuser, config, to, clock) };
      } finally {
        await server.close();
      }
    },
    verify: (from, at) =>
      untilSignal(async (signal) => {
        const options = await placeAndKey(backup, from, clock);
        const erasures = await countErasures(options);
        let files: FileCounts = NO_FILES;
        const verified = await verifyBackup({ ...options, clock, at, signal }, async (connection) => {
          files = await withStore(connection, NO_FILES, clock, async (database) => {
            const found = await takeFiles({ database, clock }, await filePlace(backup, from, clock), null);
            if (found.missing.length === 0 || at !== undefined) return found;
            // Within this time a running service copies what it has just stored.
            await clock.sleep(COPIED_WITHIN_MS, { signal });
            return takeFiles({ database, clock }, await filePlace(backup, from, clock), null);
          });
        });
        const fault = fileFault(files, options.place.address);
        if (fault !== null) throw new BackupError(`backup ${verified.name} restores, but ${fault}`);
        return { ...verified, erasures, files: files.whole };
      }),
    async restore({ from, at, withoutErasures }) {
      refuseOwnDatabase(config);
      const { secrets } = config;
      if (secrets === null) {
        throw new BackupError(
          'a backup holds no keys: set DATA_KEYS, INDEX_KEY and API_KEY_PEPPER, as secrets.json of the lost DATA_DIR had them',
        );
      }
      const options = await placeAndKey(backup, from, clock);
      let files: FileCounts = NO_FILES;
      let erased: Replayed = { erasures: 0, applications: 0, unknownPhones: 0 };
      let ended: Ended = NOTHING_ENDED;
      const { later, fault: laterFault } = await laterState({ ...options, clock }, secrets, at);
      const check = async (connection: EmbeddedConnection, restored: Restored) => {
        const erasuresOf = withoutErasures ? null : options;
        const restoring = { actor, clock, restored, erasuresOf, later };
        ({ erased, ended } = await checkRestored(connection, secrets, restoring));
        // After the erasures, so that the files of erased persons do not come back.
        files = await withStore(connection, NO_FILES, clock, async (database) =>
          takeFiles({ database, clock }, await filePlace(backup, from, clock), config.setting),
        );
      };
      const done = await untilSignal((signal) =>
        restoreBackup(dataDir, { ...options, clock, at, check, signal }),
      );
      const fault = fileFault(files, options.place.address);
      const notes = [
        erased.unknownPhones > 0 ? unknownPhonesText(erased.unknownPhones) : null,
        fault && `the store is restored, but ${fault}`,
        laterFault,
      ].filter((note) => note !== null);
      return {
        ...done,
        erased: { ...erased, note: notes.join('\n') || null },
        files: files.whole,
        ended: { ...ended, until: later.at(-1)?.at ?? null },
      };
    },
  };
}

/**
 * What the place knows about the time after the moment. If that cannot be read, the restore goes on, and `fault` says
 * why.
 */
async function laterState(
  options: Omit<Parameters<typeof readLater>[0], 'signal'>,
  secrets: Secrets,
  at: Date | undefined,
): Promise<{ readonly later: readonly Later[]; readonly fault: string | null }> {
  if (at === undefined) return { later: [], fault: null };
  return untilSignal(async (signal) => {
    try {
      return { later: await readLater({ ...options, signal }, secrets, at), fault: null };
    } catch (error) {
      signal.throwIfAborted();
      return { later: [], fault: unknownLaterText(error) };
    }
  });
}

async function secretsOf(config: Config, clock: Clock): Promise<Secrets> {
  return config.secrets ?? secretsOfDataDir(config.dataDir, false, clock);
}

function refuseOwnDatabase({ databaseUrl }: Config): void {
  if (databaseUrl === null) return;
  throw new BackupError(
    'DATABASE_URL is set, and this command is for the embedded database: docs/backup.md says how your own one is backed up',
  );
}

const NO_FILES: FileCounts = { whole: 0, missing: [], damaged: [] };
/** A turn of the upkeep, and the time that a large file takes. */
const COPIED_WITHIN_MS = 30_000;

function copyFiles(
  connection: EmbeddedConnection,
  { setting, backup }: Config,
  to: string | undefined,
  clock: Clock,
): Promise<number> {
  return withStore(connection, 0, clock, async (database) =>
    copyAllFiles({ database, setting, clock }, await filePlace(backup, to, clock)),
  );
}

/** Reads a store; the result is `otherwise` if the store is of an older version and may lack tables. */
function withStore<T>(
  connection: EmbeddedConnection,
  otherwise: T,
  clock: Clock,
  look: (database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(connection, clock, async (database) => {
    const { pending } = await schemaFit(database);
    return pending.length > 0 ? otherwise : await look(database);
  });
}

/**
 * Records a backup before it is made. A store of another version is backed up too, although its tables may have no room
 * for the record. Throws `SetupError` if the secrets are not those of the store, because the chain of the record needs
 * them.
 */
function recordCreate(
  connection: EmbeddedConnection,
  config: Config,
  { actor, clock }: Pick<OperatorContext, 'actor' | 'clock'>,
): Promise<void> {
  return withDatabase(connection, clock, async (database) => {
    const { fault, pending } = await schemaFit(database);
    if (fault !== null || pending.length > 0) return;
    const secrets = await secretsOf(config, clock);
    await checkSecrets(database, secrets, await loadWitnesses(), clock, 'backup');
    await noting({ database, vault: new Vault(secrets), clock, actor }, { act: 'backup create' });
  });
}

interface Restoring {
  readonly actor: string;
  readonly clock: Clock;
  readonly restored: Restored;
  /** The place whose erasures are repeated; null: none are. */
  readonly erasuresOf: { readonly place: Place; readonly key: BackupKey } | null;
  readonly later: readonly Later[];
}

/**
 * Records the restore in the restored store, makes its blind indexes again if they are older than a `vault reindex`,
 * ends the sign-ins of operators and what was ended since, and erases again the persons who were erased after its
 * moment. Throws if the store is not of this version, its data is sealed with other secrets, or the erasures cannot be
 * read.
 */
function checkRestored(
  connection: EmbeddedConnection,
  secrets: Secrets,
  { actor, clock, restored: { name, at }, erasuresOf, later }: Restoring,
): Promise<{ readonly erased: Replayed; readonly ended: Ended }> {
  return withDatabase(connection, clock, async (database) => {
    const { fault, pending } = await schemaFit(database);
    if (fault !== null) throw new BackupError(fault);
    const witnesses = await loadWitnesses();
    await checkSecrets(database, secrets, witnesses, clock, 'restore');
    const nothing = { erasures: 0, applications: 0, unknownPhones: 0 };
    if (pending.length > 0) await migrate(database, clock);
    const context = { database, vault: new Vault(secrets), clock, actor };
    const target = `backup ${name} to ${at.toISOString()}`;
    await noting(context, { act: 'backup restore', target });
    // The index key does not go back, because later erasures and opt-outs are known by the newest key alone.
    await reindex(context, witnesses.reindexings, 'restore');
    const ended = await endAgain(context, later);
    const known = later.flatMap(({ erasures }) => erasures);
    const erased = erasuresOf === null ? nothing : await eraseAgain(context, erasuresOf, known);
    return { ended, erased };
  });
}

/** Runs `work`, which ends early and cleanly if the process is told to stop. */
async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort(new BackupError('stopped by a signal'));
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, stop);
  try {
    return await work(stopping.signal);
  } finally {
    for (const name of names) process.off(name, stop);
  }
}
