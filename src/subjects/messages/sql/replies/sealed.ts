/** The contents of replies, as a kind of what data keys seal. */
import { toApplicationId } from '../../../../domain/application/ids.ts';
import { PAGE, sealedRows } from '../../../../seal/sealed-rows.ts';
import { replyIdentity } from '../replies.ts';

/** The contents of replies. */
export const REPLIES = sealedRows({
  name: 'replies',
  identity: (name) => {
    const [application = '', turn] = name.split(' ');
    return replyIdentity(toApplicationId(application), Number(turn));
  },
  some: `
    SELECT application_id || ' ' || turn AS name, content AS sealed FROM replies
    WHERE substring(content FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id, application_id || ' ' || turn AS name,
      CASE WHEN (substring(content FROM 1 FOR 1) = $2) = $3 THEN content END AS sealed
    FROM replies WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE replies r SET content = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE r.id = g.id AND r.content = g.sealed AND may_seal($4) AND r.id = ANY (ARRAY(
      SELECT h.id FROM replies h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
});
