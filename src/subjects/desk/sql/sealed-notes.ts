/** The texts of notes, as a kind of what data keys seal. */
import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';
import { noteName } from './notes.ts';

export const SEALED_NOTES = sealedRows({
  name: 'notes',
  identity: noteName,
  some: `
    SELECT application_id || ':' || seal_id AS name, content AS sealed FROM application_notes
    WHERE substring(content FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id, application_id || ':' || seal_id AS name,
      CASE WHEN (substring(content FROM 1 FOR 1) = $2) = $3 THEN content END AS sealed
    FROM application_notes WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE application_notes n SET content = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE n.id = g.id AND n.content = g.sealed AND may_seal($4) AND n.id = ANY (ARRAY(
      SELECT h.id FROM application_notes h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
});
