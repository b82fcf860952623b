/** The contents of inputs, as a kind of what data keys seal. */
import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';
import { inputIdentity } from './inputs.ts';

/** The contents of inputs. */
export const CONVERSATION_INPUTS = sealedRows({
  name: 'conversation inputs',
  identity: (name) => {
    const [application = '', sealId = ''] = name.split(' ');
    return inputIdentity(application, sealId);
  },
  some: `
    SELECT application_id || ' ' || seal_id AS name, content AS sealed FROM conversation_inputs
    WHERE substring(content FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id, application_id || ' ' || seal_id AS name,
      CASE WHEN (substring(content FROM 1 FOR 1) = $2) = $3 THEN content END AS sealed
    FROM conversation_inputs WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE conversation_inputs i SET content = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE i.id = g.id AND i.content = g.sealed AND may_seal($4) AND i.id = ANY (ARRAY(
      SELECT h.id FROM conversation_inputs h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
});
