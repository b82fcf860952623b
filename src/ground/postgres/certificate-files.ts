/** The files of TLS that `DATABASE_URL` names. */
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '../base/error-code.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../base/private-file.ts';
import { SetupError } from './setup-error.ts';

const PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Throws a `SetupError` that names the parameter whose file cannot be read, and where the key's file is open to others
 * (a client of PostgreSQL's own refuses it too). The driver reads the files at each new
 * connection, and a missing file there looks like a server that is not up yet.
 */
export function refuseUnreadableFiles(databaseUrl: string): void {
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(databaseUrl)?.[1]);
  for (const name of PARAMETERS) {
    const file = parameters.get(name);
    if (!file) continue;
    let isOpen: boolean;
    try {
      readFileSync(file);
      isOpen = name === 'sslkey' && isOpenToOthers(statSync(file));
    } catch (error) {
      throw new SetupError(
        `DATABASE_URL cannot be used: ${name} names a file that cannot be read (${errorCode(error)})`,
      );
    }
    if (isOpen) throw new SetupError(`DATABASE_URL cannot be used: the file of ${name} ${OPEN_TO_OTHERS}`);
  }
}
