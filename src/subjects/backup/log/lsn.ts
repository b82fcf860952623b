/**
 * Positions in the write-ahead log (bytes since its beginning), and the names of its files, in PostgreSQL's forms.
 * Pure.
 */

/** The size of a file of the log, as `initdb` makes it. */
export const SEGMENT_BYTES = 16n * 1024n * 1024n;

/** Reads PostgreSQL's form, such as `0/16B3748`. */
export function readLsn(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

/** Writes PostgreSQL's form. */
export function writeLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffff_ffffn).toString(16)}`.toUpperCase();
}

/** The beginning of the file that holds the byte at `lsn`. */
export function segmentStart(lsn: bigint): bigint {
  return lsn - (lsn % SEGMENT_BYTES);
}

/** The name of the file in `pg_wal` that holds the byte at `lsn` on this timeline. */
export function segmentName(timeline: number, lsn: bigint): string {
  const segment = lsn / SEGMENT_BYTES;
  const perLog = 0x1_0000_0000n / SEGMENT_BYTES;
  return [BigInt(timeline), segment / perLog, segment % perLog].map(hex8).join('').toUpperCase();
}

/** The name of the file in `pg_wal` that says where a timeline began. */
export function historyName(timeline: number): string {
  return `${hex8(BigInt(timeline)).toUpperCase()}.history`;
}

function hex8(part: bigint): string {
  return part.toString(16).padStart(8, '0');
}
