/** The tables of erasures: what is kept, and how an index key that is replaced changes them. */
import type { Table } from '../../../ground/postgres/table.ts';

const MOVE_PHONES = `
  INSERT INTO erased_phones (erasure_id, phone_index)
  SELECT p.erasure_id, g.after FROM erased_phones p
  JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON p.phone_index = g.before
  ON CONFLICT DO NOTHING`;

export const TABLES: readonly Table[] = [
  {
    name: 'erasures',
    person: { not: 'ids of applications that have nothing of a person any more' },
  },
  {
    name: 'erased_phones',
    person: { not: 'blind indexes of phones that stay suppressed, and nothing else of the person' },
    indexes: [{ column: 'phone_index', moves: [MOVE_PHONES] }],
  },
];
