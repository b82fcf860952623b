/**
 * Builds the command that starts a reader's process isolated, by programs of util-linux and a shell (docs/documents.md,
 * "The reader"). The process sees only the files that it reads. It has no network, no other process, no file that it
 * may write, no user of the machine and no right of root.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A program to run as a reader: its command, and every file and folder that it has to see. */
export interface ReaderProgram {
  readonly command: readonly string[];
  readonly sees: readonly string[];
}

/** A command that starts a reader. */
export interface ReaderCommand {
  readonly command: readonly string[];
  /** The user that it runs as; absent: the user of the service. */
  readonly account?: { readonly uid: number; readonly gid: number };
  /** Open files of the service that the reader must not inherit. */
  readonly closed: readonly number[];
  readonly isIsolated: boolean;
}

/**
 * A service that runs as root starts its reader under a user id without a name, as it starts PostgreSQL
 * (`ground/embedded/account.ts`), but under another id: processes of one user may read each other's memory.
 */
const READER = { uid: 61_084, gid: 61_084 };

/** The most threads and processes. Node has a dozen threads. */
const MOST_THREADS = 64;

/**
 * Makes the reader's file system in /sys, which every Linux has and where no program lies. The file system is empty;
 * each visible thing is mounted at its own path, read-only. The shell stays as the first process of its space. When the
 * command ends, the shell ends, and so does everything that the command has left behind.
 */
const PLACE = `
set -e
mount -t tmpfs -o mode=755,size=1m tmpfs /sys
while [ "$1" != -- ]; do
  if [ ! -e "/sys$1" ]; then
    if [ -d "$1" ]; then mkdir -p "/sys$1"; else mkdir -p "/sys\${1%/*}"; : >"/sys$1"; fi
    mount --bind -o ro,nosuid,nodev "$1" "/sys$1"
  fi
  shift
done
shift
mount -o remount,bind,ro,nosuid,nodev /sys
"$@"
exit $?`;

/**
 * The reader's own namespaces. In the first user namespace the shell may mount; outside of it the shell has no rights.
 */
const SPACES = ['--user', '--map-root-user', '--mount', '--pid', '--net', '--ipc', '--kill-child=KILL'];

/**
 * The command, isolated. The second user namespace has no user at all, so the command has no right in any namespace,
 * and cannot make another one in which it would have rights. It ends when the service ends.
 */
export function isolated({ command, sees }: ReaderProgram): ReaderCommand {
  const shut = [
    ...['setpriv', '--no-new-privs', '--pdeathsig=KILL', 'unshare', ...SPACES, '--'],
    // Sorted, so that a folder comes before what lies in it.
    ...['/bin/sh', '-c', PLACE, 'sh', ...sees.toSorted(), '--'],
    ...['prlimit', `--nproc=${MOST_THREADS}`, '--', 'unshare', '--user', '--root=/sys', '--wd=/', '--'],
    ...command,
  ];
  const account = process.getuid?.() === 0 ? { account: READER } : {};
  return { command: shut, ...account, closed: inherited(), isIsolated: true };
}

/** The command without isolation: only with the limits of memory and time. */
export function exposed({ command }: ReaderProgram): ReaderCommand {
  return { command, closed: [], isIsolated: false };
}

const CLOSED_BY_EXEC = 0o2000000;

/** Open files that this process got from its parent, and that Node.js would pass on: it closes only those below 16. */
function inherited(): number[] {
  if (!existsSync('/proc/self/fdinfo')) return [];
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((file) => {
      if (file <= 2) return false;
      try {
        const [, flags = ''] =
          /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8')) ?? [];
        return (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0;
      } catch {
        // This is the open file of the list itself.
        return false;
      }
    });
}

const PACKAGES = ['unpdf', 'tesseract.js-core', '@tesseract.js-data/spa', '@tesseract.js-data/por'];
const EXTENSION = extname(import.meta.filename);
/** The only file outside of the reader's folder that its process loads. */
const CLOCK = join(import.meta.dirname, '../../../ground/base', `clock${EXTENSION}`);
const CHILD = join(import.meta.dirname, `child${EXTENSION}`);
const HEAP_MIB = 192;

/** The reader's program. Tests replace `child`, and let it see `more`. */
export function readerProgram(child = CHILD, more: readonly string[] = []): ReaderProgram {
  const own = [...readable(), child, ...more];
  return {
    command: [
      ...[process.execPath, '--disable-sigusr1', '--permission', `--max-old-space-size=${HEAP_MIB}`],
      ...own.map((path) => `--allow-fs-read=${path}`),
      child,
    ],
    sees: [...own, process.execPath, ...sharedLibraries()],
  };
}

/** The shared libraries that this Node has loaded. The reader's Node loads the same ones. */
function sharedLibraries(): string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects: string[] };
  return sharedObjects.filter((path) => path.startsWith('/') && existsSync(path));
}

/**
 * The reader's own code, and the packages that it uses: where they lie, and where Node.js looks for them on the way up
 * from the reader. The two places differ if an installer links packages, and Node.js has to read the link.
 */
function readable(): string[] {
  const found = PACKAGES.map(folderOf);
  const looked = foldersAbove(import.meta.dirname).flatMap((folder) =>
    PACKAGES.map((name) => join(folder, 'node_modules', name)),
  );
  const manifest = findPackageJSON('.', import.meta.url);
  const packages = new Set([...found, ...looked.filter((path) => existsSync(path))]);
  return [CLOCK, import.meta.dirname, ...packages, ...(manifest === undefined ? [] : [manifest])];
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
