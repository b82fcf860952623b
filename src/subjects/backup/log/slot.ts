/**
 * Makes, moves and drops the replication slots of the backups. The slot of a backup keeps the log on the server's disk
 * until it is archived; its name is that of the backup. `max_slot_wal_keep_size` bounds what it keeps
 * (`embedded/start`). Calls PostgreSQL's slot functions and locks. Why: docs/decisions/0011-a-slot-keeps-the-log.md.
 */
import type pg from 'pg';
import { readLsn, writeLsn } from './lsn.ts';

/** A slot, with the position up to which the log is archived. */
export interface Slot {
  readonly slot: string;
  readonly backup: string;
  readonly archivedTo: bigint;
}

const PREFIX = 'ventanilla_backup_';

/** Two locks of the database: one process at a time archives the log, and one makes a base backup ('VENT' in ASCII). */
const ARCHIVE_LOCK = [0x56454e54, 2] as const;
const BASE_LOCK = [0x56454e54, 3] as const;
export const LOCKS = { archive: ARCHIVE_LOCK, base: BASE_LOCK } as const;

function slotOf(backup: string): string {
  return PREFIX + backup.replace('-', '_');
}

/** Runs `work` if no other process has this lock; otherwise resolves to undefined. */
export async function withLock<T>(
  client: pg.Client,
  lock: readonly [number, number],
  work: () => Promise<T>,
): Promise<T | undefined> {
  const { rows } = await client.query<{ yes: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS yes', [
    ...lock,
  ]);
  if (rows[0]?.yes !== true) return undefined;
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1, $2)', [...lock]);
  }
}

/** Makes a slot that lasts as long as this session. From now on the server keeps its log. */
export async function makeSlot(client: pg.Client, backup: string): Promise<Slot> {
  const { rows } = await client.query<{ lsn: string }>(
    'SELECT lsn FROM pg_create_physical_replication_slot($1, true, true)',
    [`${slotOf(backup)}_making`],
  );
  return { slot: `${slotOf(backup)}_making`, backup, archivedTo: readLsn(rows[0]!.lsn) };
}

/** Makes a slot that stays, at the position of a slot of this session, and drops those of older backups. */
export async function keepSlot(client: pg.Client, { slot, backup }: Slot): Promise<void> {
  await client.query('SELECT pg_copy_physical_replication_slot($1, $2, false)', [slot, slotOf(backup)]);
  // Another process may be archiving by an older slot.
  await client.query('SELECT pg_advisory_lock($1, $2)', [...ARCHIVE_LOCK]);
  await dropSlots(client, backup);
  await client.query('SELECT pg_advisory_unlock($1, $2)', [...ARCHIVE_LOCK]);
}

/** Drops the slots of all backups but this one. */
async function dropSlots(client: pg.Client, backup: string): Promise<void> {
  await client.query(
    `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
     WHERE starts_with(slot_name, $1) AND NOT temporary AND NOT active AND slot_name <> $2`,
    [PREFIX, slotOf(backup)],
  );
}

/** The slot whose log is archived; undefined if there is none, or if the server has thrown its log away. */
export async function keptSlot(client: pg.Client): Promise<Slot | undefined> {
  const { rows } = await client.query<{ slot: string; lsn: string }>(
    `SELECT slot_name AS slot, restart_lsn AS lsn FROM pg_replication_slots
     WHERE starts_with(slot_name, $1) AND NOT temporary AND restart_lsn IS NOT NULL AND wal_status <> 'lost'
     ORDER BY slot_name DESC LIMIT 1`,
    [PREFIX],
  );
  if (rows[0] === undefined) return undefined;
  const { slot, lsn } = rows[0];
  return { slot, backup: slot.slice(PREFIX.length).replace('_', '-'), archivedTo: readLsn(lsn) };
}

/** Tells the server that it need not keep the log before `to` for this slot any more. */
export async function moveSlot(client: pg.Client, { slot }: Slot, to: bigint): Promise<void> {
  await client.query('SELECT pg_replication_slot_advance($1, $2)', [slot, writeLsn(to)]);
}
