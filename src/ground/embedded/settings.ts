import { totalmem } from 'node:os';

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly why: string;
}

const MIB = 1024 * 1024;

/**
 * `shared_buffers` for a machine or container with this much memory: a quarter, from 128 MiB to 8 GiB. Of unused
 * buffers only the server's tables of them take memory: 22 MB for each GiB. The rest is for the service and for the
 * system's cache of files.
 *
 * Measured with 8 million open phones (510 MB, touched at random), batches of 100, twice each, alternating, two shared
 * cores: 256 MiB 71,094 applications a second and 12.2 us of PostgreSQL's CPU, 1 GiB 65,955 and 12.6, 2 GiB 63,363 and
 * 13.6. So more than 256 MiB gains nothing while the system's cache holds the pages. A store larger than the memory is
 * not measured; for that PostgreSQL's manual advises a quarter.
 */
export function sharedBuffersMiB(memoryBytes: number): number {
  return Math.round(Math.min(8192, Math.max(128, memoryBytes / 4 / MIB)));
}

/**
 * `max_wal_size` for this memory and disk: twice `shared_buffers`, from 1 GiB to 8 GiB, and at most a tenth of the
 * disk. If the log reaches it, a checkpoint comes before its time, and after each checkpoint the first change of a
 * page writes the whole page. More would make the recovery after a crash longer.
 */
export function maxWalSizeMiB(memoryBytes: number, diskBytes: number): number {
  const wanted = Math.min(8192, Math.max(1024, 2 * sharedBuffersMiB(memoryBytes)));
  return Math.round(Math.max(128, Math.min(wanted, diskBytes / 10 / MIB)));
}

/**
 * `max_slot_wal_keep_size` for this disk: how much of the log waits for a backup that nobody takes up. A tenth of the
 * disk, from 256 MiB to 64 GiB. Beyond it the server drops the log, and the next backup begins with a new base.
 */
export function maxKeptLogMiB(diskBytes: number): number {
  return Math.round(Math.max(256, Math.min(65_536, diskBytes / 10 / MIB)));
}

function memoryBytes(): number {
  // A container's limit counts before the machine's memory. Without a limit Node gives 0 or an absurd number.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Where the embedded server differs from PostgreSQL's defaults, or relies on them. Passed as `-c` flags. What a session
 * can set is in `ground/postgres/session.ts`, so that it holds on every server.
 */
const FIXED: readonly Setting[] = [
  { name: 'fsync', value: 'on', why: 'an answered batch survives a power cut' },
  { name: 'synchronous_commit', value: 'on', why: 'the same; off would gain a fifth and is refused' },
  { name: 'full_page_writes', value: 'on', why: 'a page torn by a power cut can be repaired' },
  { name: 'restart_after_crash', value: 'on', why: 'a crashed backend costs a second, not the service' },

  { name: 'listen_addresses', value: '127.0.0.1', why: 'only this machine may connect' },
  { name: 'unix_socket_directories', value: '', why: 'a socket needs a short path that all may enter' },
  {
    name: 'max_connections',
    value: '100',
    why: 'several processes with their pools, and one to look inside',
  },
  { name: 'idle_session_timeout', value: '0', why: 'the connection that says "in use" is idle all its life' },

  { name: 'checkpoint_timeout', value: '15min', why: 'each checkpoint makes every page cost a full image' },
  { name: 'checkpoint_completion_target', value: '0.9', why: 'spreads the writes of a checkpoint' },
  { name: 'wal_compression', value: 'off', why: 'costs 15 % of the ingest rate when CPU is what is short' },
  { name: 'max_logical_replication_workers', value: '0', why: 'nothing subscribes: one process less' },

  { name: 'log_timezone', value: 'UTC', why: 'lines up with the service log' },
  { name: 'log_destination', value: 'stderr', why: 'the supervisor hands in the log file' },
  { name: 'logging_collector', value: 'off', why: 'one process less; the log is nearly silent' },
  {
    name: 'log_min_messages',
    value: 'log',
    why: 'drops warnings and errors, whose texts quote values ("invalid input syntax ..."): personal data; the service gets them as answers. Keeps start, recovery, crash and FATAL',
  },
  { name: 'log_min_error_statement', value: 'panic', why: 'statements hold personal data' },
  { name: 'log_statement', value: 'none', why: 'the same' },
  { name: 'log_min_duration_statement', value: '-1', why: 'the same' },
  { name: 'log_parameter_max_length', value: '0', why: 'parameters hold personal data' },
  { name: 'log_parameter_max_length_on_error', value: '0', why: 'the same' },
  { name: 'log_error_verbosity', value: 'terse', why: 'DETAIL lines quote the row' },
  { name: 'log_lock_waits', value: 'off', why: 'its lines quote the statement' },
  { name: 'log_checkpoints', value: 'off', why: 'bounds the log: nothing is written while all is well' },
  { name: 'log_autovacuum_min_duration', value: '-1', why: 'the same' },
];

/** All settings, for a machine or container with its memory and a disk of this size. */
export function settings(diskBytes: number): readonly Setting[] {
  const memory = memoryBytes();
  return [
    ...FIXED,
    {
      name: 'shared_buffers',
      value: `${sharedBuffersMiB(memory)}MB`,
      why: 'the service and the cache of the system need the rest',
    },
    {
      name: 'max_wal_size',
      value: `${maxWalSizeMiB(memory, diskBytes)}MB`,
      why: 'checkpoints by the clock, not in the middle of a busy hour',
    },
    {
      name: 'max_slot_wal_keep_size',
      value: `${maxKeptLogMiB(diskBytes)}MB`,
      why: 'the log that waits for a backup does not fill the disk',
    },
  ];
}

/** All settings as command-line arguments of `postgres`. */
export function settingArguments(diskBytes: number): string[] {
  return settings(diskBytes).flatMap(({ name, value }) => ['-c', `${name}=${value}`]);
}
