/**
 * The names of the objects of a backup, and how they are read. A backup is all objects below its own name, such as
 * `000012-1f3a9c0d`: a number that counts up, and 8 random digits. The number, not a clock, orders backups. Reads the
 * place's list of names; the rest is pure. README.md has the table of objects.
 */
import { randomBytes } from 'node:crypto';
import type { Place } from '../../ground/places/place.ts';

/** A part of the log from the first position up to the second one. */
export interface Piece {
  readonly name: string;
  readonly from: bigint;
  readonly to: bigint;
}

const BACKUP = /^(\d{6})-[0-9a-f]{8}$/;
const PIECE = /\/log-([0-9a-f]{16})-([0-9a-f]{16})$/;

/** The backups among the names of a place, oldest first. */
export function backupsOf(names: readonly string[]): string[] {
  const found = new Set(names.map((name) => name.split('/')[0] ?? ''));
  return [...found].filter((name) => BACKUP.test(name)).sort();
}

/**
 * The names of the objects of all backups. A place has many other objects. A hundred thousand backups take 270 years,
 * so all numbers begin with a zero.
 */
export function namesOfBackups(place: Place): Promise<string[]> {
  return place.list('0');
}

/** A name for the next backup after these. */
export function nextBackup(known: readonly string[]): string {
  const last = Number(BACKUP.exec(known.at(-1) ?? '')?.[1] ?? 0);
  return `${String(last + 1).padStart(6, '0')}-${randomBytes(4).toString('hex')}`;
}

export function manifestName(backup: string): string {
  return `${backup}/manifest`;
}

/** `number` counts from 1. */
export function volumeName(backup: string, number: number): string {
  return `${backup}/base-${String(number).padStart(6, '0')}`;
}

export function logEndName(backup: string): string {
  return `${backup}/log-end`;
}

export function pieceName(backup: string, from: bigint, to: bigint): string {
  return `${backup}/log-${hex16(from)}-${hex16(to)}`;
}

/** The pieces of the log among the names of a backup, by their beginning. */
export function piecesOf(names: readonly string[]): Piece[] {
  return names.flatMap((name) => {
    const [, from, to] = PIECE.exec(name) ?? [];
    return from === undefined ? [] : [{ name, from: BigInt(`0x${from}`), to: BigInt(`0x${to}`) }];
  });
}

function hex16(lsn: bigint): string {
  return lsn.toString(16).padStart(16, '0');
}
