/** Parameters and results in the forms that cost least: array literals of safe text, binary bytea arrays. */
import pg from 'pg';

/** OIDs of PostgreSQL's pg_type. */
const BYTEA_OID = 17;
const INT8_ARRAY_OID = 1016;

/** An element of an array literal for any text. */
export function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}

/** An array literal from elements that need no quotes (numbers, UUIDs, names of closed sets) or are quoted. */
export function arrayLiteral(elements: readonly (string | number | boolean | null)[]): string {
  let text = '';
  for (const element of elements) text += text === '' ? `${element ?? 'NULL'}` : `,${element ?? 'NULL'}`;
  return `{${text}}`;
}

/** PostgreSQL's binary form of a one-dimensional bytea[]; `pg` sends a Buffer as binary. */
export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  let size = 20;
  for (const value of values) size += 4 + (value?.length ?? 0);
  const out = Buffer.allocUnsafe(size);
  out.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  out.writeInt32BE(1, 4);
  out.writeInt32BE(BYTEA_OID, 8);
  if (values.length === 0) return out.subarray(0, 12);
  out.writeInt32BE(values.length, 12);
  out.writeInt32BE(1, 16);
  let offset = 20;
  for (const value of values) {
    offset = out.writeInt32BE(value === null ? -1 : value.length, offset);
    if (value !== null) offset += value.copy(out, offset);
  }
  return out;
}

/** Reads int8[] as numbers (ids stay below 2^53); all else as `pg` does. */
export const RESULT_TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === INT8_ARRAY_OID ? parseInt8Array : pg.types.getTypeParser(oid, format)) as never,
};

function parseInt8Array(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(Number);
}
