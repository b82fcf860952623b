/** What this machine offers to shut a reader's process in. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How a reader's process is started. */
export interface Isolation {
  /** Goes before the command: takes the network away. Empty where the machine does not allow that. */
  readonly before: readonly string[];
  /** Let Node.js read the reader's own files alone, and start nothing. */
  readonly nodeOptions: readonly string[];
}

/** A namespace of users lets a service without rights have a network of its own: one with nothing in it. */
const NO_NETWORK = ['unshare', '--map-root-user', '--net', '--'];
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let known: Promise<Isolation> | undefined;

/** Tries it out once. */
export function isolation(): Promise<Isolation> {
  known ??= runs(NO_NETWORK).then((hasNone) => ({
    before: hasNone ? ['/usr/bin/env', `PATH=${PATH}`, ...NO_NETWORK] : [],
    nodeOptions: ['--permission', ...readable().map((path) => `--allow-fs-read=${path}`)],
  }));
  return known;
}

/** What whoever runs the service has to know of this machine; null: nothing. */
export function isolationWarning({ before }: Isolation): string | null {
  if (before.length > 0) return null;
  return 'the process that reads documents has the network of the service, because this machine gives it no empty one: let the service reach the database, the channel and the store alone (docs/documents.md)';
}

function runs([command = '', ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const trial = spawn(command, [...args, 'true'], { stdio: 'ignore', env: { PATH } });
    trial.on('error', () => resolve(false));
    trial.on('close', (code) => resolve(code === 0));
  });
}

const PACKAGES = ['unpdf', 'tesseract.js-core', '@tesseract.js-data/spa', '@tesseract.js-data/por'];

/** The one file outside of the reader's folder that its process loads. */
const CLOCK = join(import.meta.dirname, '..', '..', 'base', `clock${extname(import.meta.filename)}`);

/**
 * The reader's own code, the clock, and the packages that it uses: where they lie, and where Node.js looks for them on
 * the way up from the reader. The two differ where an installer links packages, and Node.js has to read the link.
 */
function readable(): string[] {
  const found = PACKAGES.map(folderOf);
  const looked = foldersAbove(import.meta.dirname).flatMap((folder) =>
    PACKAGES.map((name) => join(folder, 'node_modules', name)),
  );
  const packages = new Set([...found, ...looked.filter((path) => existsSync(path))]);
  return [CLOCK, ...[import.meta.dirname, ...packages].map((path) => join(path, '*'))];
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

function folderOf(name: string): string {
  const file = fileURLToPath(import.meta.resolve(name));
  const folder = join('node_modules', name);
  return file.slice(0, file.lastIndexOf(folder) + folder.length);
}
