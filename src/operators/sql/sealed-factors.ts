/** The secrets of the operators' codes, for the replacement of data keys. */
import { PAGE, sealedRows } from '../../seal/sealed-rows.ts';
import { totpIdentity } from './factors.ts';

export const FACTORS = sealedRows({
  name: 'secrets of operators',
  some: `
    SELECT id::text AS name, totp AS sealed FROM operators WHERE substring(totp FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id::text, id::text AS name,
      CASE WHEN (substring(totp FROM 1 FOR 1) = $2) = $3 THEN totp END AS sealed
    FROM operators WHERE id > $1::bigint ORDER BY id LIMIT ${PAGE}`,
  write: 'UPDATE operators SET totp = $2 WHERE id = $1::bigint AND totp = $3 AND may_seal($4)',
  identity: totpIdentity,
});
