/**
 * Keeps a second run away from a journal. The lock is one of the operating system on an empty file, so it ends with its
 * process, however the process ends. SQLite is the way to such a lock that Node has on every platform.
 */
import { basename } from 'node:path';
import { BulkError } from '../read/bulk-error.ts';

/** SQLite's code for a file that another process has locked. */
const SQLITE_BUSY = 5;

interface JournalLock {
  release(): void;
}

/** The path of a journal's lock file. The file stays, because removing it could let two runs in. */
export function lockPath(journal: string): string {
  return `${journal}.lock`;
}

/** Locks the journal of `file`. Throws `BulkError` where another run has locked the journal, or no lock is possible. */
export function lockJournal(journal: string, file: string): JournalLock {
  // Avoids `import`, because only a submission needs the module.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    lock = new DatabaseSync(lockPath(journal));
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    const { errcode, message } = error as Error & { readonly errcode?: number };
    if (errcode === SQLITE_BUSY) {
      throw new BulkError({
        en: `${file}: another run sends this file now (${basename(journal)} is locked). Wait until that run has ended`,
        es: `${file}: otra ejecución está enviando este archivo (${basename(journal)} está bloqueado). Espera a que termine`,
      });
    }
    throw new BulkError({
      en: `${basename(lockPath(journal))}: it cannot be locked (${message}). Move ${file} and its journal to a folder of this machine`,
      es: `${basename(lockPath(journal))}: no se puede bloquear (${message}). Mueve ${file} y su diario a una carpeta de este equipo`,
    });
  }
  return { release: () => lock.close() };
}
