/** What the commands start, wired together: the composition root of everything that needs the store. */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { startBackground } from './background.ts';
import type { Roles } from './cli/roles.ts';
import { printable } from './cli/terminal-text.ts';
import { type Config, readConfig } from './config.ts';
import { createLog, startService } from './service.ts';
import { openStore, type Store, type StoreUser } from './store.ts';
import { ensureDemoPartner } from './usecases/demo-partner.ts';
import { type Demo, welcome } from './welcome.ts';

/** A shutdown that takes longer is cut short, in milliseconds. */
const STOP_WITHIN_MS = 25_000;
/** Ctrl-C reaches the service twice under `npm start`, from the terminal and from npm, which passes it on. */
const SAME_SIGNAL_WITHIN_MS = 1_000;

/** The roles of this process; the environment is read when the first of them needs it. */
export function processRoles(): Roles {
  const config = lazily(() => readConfig(process.env));
  return {
    serve: () => serve(config()),
    worker: () => worker(config()),
    async migrate() {
      const store = await openStore(config(), command());
      await store.close();
      return [...store.applied];
    },
    async operate(work) {
      const store = await openStore(config(), command());
      try {
        return await work({ database: store.database, vault: store.vault, actor: actor() });
      } finally {
        await store.close();
      }
    },
  };
}

async function serve(config: Config): Promise<void> {
  const stopped = stopSignal();
  const log = createLog(config);
  const store = await openStore(config, service(log));
  try {
    const service = await startService(config, store, log);
    try {
      await store.confirm();
      // Not before it listens: a key that is shown once would be lost to a port that is taken.
      const demo = await makeDemo(config, store);
      process.stdout.write(printable(welcome(service, demo)));
      await stopped;
      cutShortLater();
    } finally {
      await service.stop();
    }
  } finally {
    await store.close();
  }
}

/** Only in the embedded store: on a server of one's own a key that nobody asked for would be a surprise. */
async function makeDemo({ databaseUrl, dataDir }: Config, store: Store): Promise<Demo | null> {
  if (databaseUrl !== null) return null;
  const { database, vault } = store;
  const demo = await ensureDemoPartner({ database, vault, actor: 'ventanilla' });
  if (demo === null) return null;
  await writeFile(join(dataDir, 'demo-key'), demo.apiKey, { mode: 0o600 });
  return { apiKey: demo.apiKey, dataDir };
}

async function worker(config: Config): Promise<void> {
  const stopped = stopSignal();
  const log = createLog(config);
  const store = await openStore(config, service(log));
  const background = await startBackground(config, store, log, true);
  log.info('worker started');
  await stopped;
  cutShortLater();
  await background.stop();
  await store.close();
}

/** Resolves at the first SIGTERM or SIGINT; a later one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let toldAtMs: number | undefined;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (toldAtMs !== undefined && performance.now() - toldAtMs > SAME_SIGNAL_WITHIN_MS) process.exit(1);
        toldAtMs ??= performance.now();
        resolve();
      });
    }
  });
}

function cutShortLater(): void {
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function actor(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}

function service(log: Logger): StoreUser {
  return {
    kind: 'service',
    signal: new AbortController().signal,
    notice: (text) => log.warn(text),
    onError: (error) => log.warn({ code: codeOf(error) }, 'a database connection ended'),
  };
}

function command(): StoreUser {
  return {
    kind: 'command',
    signal: new AbortController().signal,
    notice: (text) => process.stderr.write(`${printable(text)}\n`),
    onError: () => {},
  };
}
