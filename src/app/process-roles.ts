/**
 * The roles of a process (serve, worker, migrate, and commands): the composition root of everything that needs the
 * store. Touches variables, the store, signals and V8's settings. ARCHITECTURE, "A process's life", has the rule.
 */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { machineClock } from '../ground/base/clock.ts';
import { printable } from '../ground/base/plain-text.ts';
import { schemaFit } from '../ground/schema/migrations.ts';
import { noting } from '../program/operations/acting.ts';
import { connectionEndLog } from '../program/operations/failure-log.ts';
import type { OperatorContext } from '../program/operations/operator-context.ts';
import { ensureDemoPartner } from '../subjects/partners/uses/demo-partner.ts';
import { type Config, readConfig } from './config/config.ts';
import { refuseOpenEnvFile } from './config/secret-files.ts';
import { runUntilStopped, type Stop, stopInOrder } from './lifetime.ts';
import { type OpenStore, openStore, openTables, type StoreUser } from './open-store.ts';
import { asOwner } from './prepare-tables.ts';
import type { ProgramRoles } from './role-types.ts';
import { type Demo, welcome } from './welcome.ts';

// Settings of V8's garbage collection. Most garbage of a service is buffers, which are outside of V8's heap.

/** The first major version of V8 that knows the flag. */
const SINCE_V8 = 13;

/**
 * Counts buffers towards the heap's own limit. By default V8 marks the whole heap whenever the buffers have grown by a
 * tenth. Under load this happens several times a second, in all threads of V8.
 */
function countBuffersInHeapLimit(): void {
  if (Number.parseInt(process.versions.v8, 10) < SINCE_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** The time limit of the last step of a stop, in milliseconds since the stop signal. */
const STORE_BY_MS = 7_000;

/**
 * The roles of this process. The first role that needs the configuration reads it. Only `serve` and `worker` load the
 * modules for HTTP and delivery. Without these an operator's command starts in a third of the time.
 */
export function processRoles(variables: NodeJS.ProcessEnv = process.env): ProgramRoles {
  const config = lazily(() => {
    refuseOpenEnvFile('.env');
    return readConfig(variables);
  });
  return {
    serve: () => serve(config()),
    worker: () => worker(config()),
    async migrate(distribute) {
      const store = await openStore(config(), { ...command(), makes: 'tables' });
      try {
        const distributed = distribute ? await distributeStore(store) : [];
        const done = [...store.applied, ...(distribute ? ['--distribute'] : [])];
        if (done.length > 0)
          await noting(operatorOf(config(), store), { act: 'migrate', target: rangeOf(done) });
        return { applied: [...store.applied], granted: store.granted, distributed };
      } finally {
        await store.close();
      }
    },
    async schema() {
      const opened = await openTables(config(), command());
      const { database, owner, patience, close } = opened;
      try {
        if (owner !== null)
          return await asOwner(owner, opened, (tables) => patience.run(() => schemaFit(tables)));
        return await patience.run(() => schemaFit(database));
      } finally {
        await close();
      }
    },
    async observe(work) {
      const { observe } = await import('./observe.ts');
      return observe(config(), machineClock, work);
    },
    async operate(work, secrets) {
      const store = await openStore(config(), { ...command(), ...(secrets && { kind: secrets }) });
      try {
        return await work(operatorOf(config(), store));
      } finally {
        await store.close();
      }
    },
    async backups() {
      const { backupActs } = await import('./backup/commands.ts');
      return backupActs(config(), config().operator ?? systemUser(), machineClock);
    },
    async keepErasures(context) {
      const { erasureCopies } = await import('./backup/schedule.ts');
      await (await erasureCopies(config(), context.clock))?.copy(context);
    },
    setting: async (setting) => config().setting(setting),
    settings: async () => config().setting,
  };
}

async function serve(config: Config): Promise<void> {
  countBuffersInHeapLimit();
  const { refuseOpenSimulator } = await import('./channel.ts');
  refuseOpenSimulator(config);
  const { findConsolePage, findPortalPage } = await import('./built-page.ts');
  const { howRead } = await import('../subjects/documents/open.ts');
  // All beside the start of the database, which takes longer.
  const consolePage = findConsolePage(config);
  const portalPage = findPortalPage(config);
  const reading = config.delivery ? howRead(config.setting, machineClock) : null;
  return withStore(config, 'store', async (store, log, begin) => {
    const { startService } = await import('./serve.ts');
    const service = await startService(config, store, log, { consolePage, portalPage });
    try {
      await store.confirm();
      // Only after the service listens: if the port were taken, a key that is shown only once would be lost.
      const demo = await makeDemo(config, store);
      const link = await firstAdminLink(config, store, service.consoleUrl);
      const readerTold = (await reading)?.told ?? null;
      const start = { demo, link, readerTold };
      process.stdout.write(printable(welcome({ ...service, place: store.place }, start)));
      begin();
      return service.stop;
    } catch (error) {
      await service.stop();
      throw error;
    }
  });
}

function worker(config: Config): Promise<void> {
  return withStore(config, 'tables', async (store, log, begin) => {
    begin();
    const { startWorker } = await import('./worker.ts');
    return startWorker(config, store, log);
  });
}

/** Runs a service on its store. Closes the store after the service, also if the service does not start. */
async function withStore(
  config: Config,
  makes: StoreUser['makes'],
  start: (store: OpenStore, log: Logger, begin: () => void) => Promise<Stop>,
): Promise<void> {
  const { createLog } = await import('./log.ts');
  const { startTracing } = await import('./tracing.ts');
  const { log, notice, begin } = createLog(config);
  // So that a start that fails writes its lines too.
  process.once('exit', begin);
  return runUntilStopped(log, machineClock, async ({ signal, fail }) => {
    const store = await openStore(config, {
      kind: 'service',
      makes,
      signal,
      clock: machineClock,
      notice,
      lost: (error) => fail(error.message),
      onError: connectionEndLog(log, machineClock),
    });
    const stopTracing = config.tracing ? await startTracing(store, log) : null;
    const close: Stop = (sinceMs) =>
      stopInOrder(log, store.clock, sinceMs, [
        { name: 'store', byMs: STORE_BY_MS, run: () => Promise.all([store.close(), stopTracing?.()]) },
      ]);
    try {
      const stop = await start(store, log, begin);
      return async (sinceMs) => {
        const isStopped = await stop(sinceMs);
        return (await close(sinceMs)) && isStopped;
      };
    } catch (error) {
      await close(store.clock.monotonicMs());
      throw error;
    }
  });
}

async function distributeStore(store: OpenStore): Promise<string[]> {
  const { distribute, distributeFor } = await import('../ground/schema/distribution.ts');
  const { database, owner } = store;
  if (owner === null) return distribute(database);
  return asOwner(owner, store, (tables) => distributeFor(tables, database));
}

/** Only in the embedded store: on the operator's own server a key that nobody asked for would be a surprise. */
async function makeDemo({ databaseUrl, dataDir }: Config, store: OpenStore): Promise<Demo | null> {
  if (databaseUrl !== null) return null;
  const demo = await ensureDemoPartner(store, store.patience);
  if (demo === null) return null;
  await writeFile(join(dataDir, 'demo-key'), demo.apiKey, { mode: 0o600 });
  return { apiKey: demo.apiKey, dataDir };
}

/**
 * Only in the embedded store, like the demo partner. The link ends at the next start; null: somebody can sign in
 * already.
 */
async function firstAdminLink(
  config: Config,
  store: OpenStore,
  consoleUrl: string | null,
): Promise<string | null> {
  if (config.databaseUrl !== null || consoleUrl === null) return null;
  const { inviteFirstAdmin } = await import('../subjects/operators/uses/first-admin.ts');
  const { enrolmentLink } = await import('../subjects/operators/settings.ts');
  const token = await store.patience.run(() => inviteFirstAdmin(operatorOf(config, store)));
  return token === null ? null : enrolmentLink(consoleUrl, token);
}

function operatorOf(config: Config, { database, vault, clock }: OpenStore): OperatorContext {
  return { database, vault, clock, actor: config.operator ?? systemUser() };
}

/** The first and the last of some names. */
function rangeOf(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]}` : `${names[0]} to ${names.at(-1)}`;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function command(): StoreUser {
  return {
    kind: 'command',
    makes: 'nothing',
    signal: new AbortController().signal,
    clock: machineClock,
    notice: (text) => process.stderr.write(`${printable(text)}\n`),
    lost: () => {},
    onError: () => {},
  };
}
