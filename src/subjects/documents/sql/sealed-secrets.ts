/** The sealed secrets of files, as a kind of what data keys seal. The files themselves depend on these alone. */
import { PAGE, sealedRows } from '../../../seal/sealed-rows.ts';

/** What the secret of a file is sealed under: the name of the file, which no other row has. */
export function secretIdentity(fileKey: string): string {
  return `file ${fileKey}`;
}

/** The secrets of the files of documents. */
export const DOCUMENT_SECRETS = sealedRows({
  name: 'documents',
  identity: secretIdentity,
  some: `
    SELECT file_key AS name, sealed_secret AS sealed FROM documents
    WHERE substring(sealed_secret FROM 1 FOR 1) = $1 LIMIT 3`,
  page: `
    SELECT id, file_key AS name,
      CASE WHEN (substring(sealed_secret FROM 1 FOR 1) = $2) = $3 THEN sealed_secret END AS sealed
    FROM documents WHERE id > $1 AND sealed_secret IS NOT NULL ORDER BY id LIMIT ${PAGE}`,
  write: `
    UPDATE documents d SET sealed_secret = g.again
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, again, sealed)
    WHERE d.id = g.id AND d.sealed_secret = g.sealed AND may_seal($4) AND d.id = ANY (ARRAY(
      SELECT h.id FROM documents h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`,
});
