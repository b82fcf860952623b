/** The secrets of the operators' codes, for the replacement of data keys. */
import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';
import { totpIdentity } from './factors.ts';

export const FACTORS = sealedRows({
  name: 'secrets of operators',
  some: `
    SELECT id::text AS name, totp AS sealed FROM operators WHERE substring(totp FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id::text, id::text AS name,
      CASE WHEN (substring(totp FROM 1 FOR 1) = $2) = $3 THEN totp END AS sealed
    FROM operators WHERE id > $1::bigint ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE operators o SET totp = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE o.id = g.id AND o.totp = g.sealed AND may_seal($4) AND o.id = ANY (ARRAY(
      SELECT h.id FROM operators h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
  identity: totpIdentity,
});
