/** A store as the version before D49 left it: an ID number's index is made of the text that was sent. */
import type { Database } from '../../src/ground/postgres/database.ts';
import { formerIdNumberIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { openEnvelope } from '../../src/subjects/applications/sql/envelope.ts';

/** What the database remembers of a store whose indexes are of the form before, with the newest key of the vault. */
function formerKeyId(vault: Vault): string {
  const { key } = vault.indexOrigins.get(vault.indexKeyId)!;
  return [...vault.indexOrigins].find(([, origin]) => origin.form === 1 && origin.key === key)![0];
}

/** Gives the batches indexes of the form before, and lets the database remember it. Services have to be stopped. */
export async function putFormerForm(database: Database, vault: Vault): Promise<void> {
  const { rows } = await database.query<{
    id: string;
    seal_id: string;
    envelope: Buffer;
    id_numbers: string[];
  }>('SELECT id, seal_id, envelope, id_numbers FROM batches WHERE envelope IS NOT NULL');
  for (const { id, seal_id, envelope, id_numbers } of rows) {
    const records = openEnvelope(vault, seal_id, envelope);
    const former = id_numbers.map((index, position) => {
      const idNumber = records[position]?.id_number;
      return index === null || index === '0' || idNumber == null
        ? index
        : toBigint(formerIdNumberIndexOf(vault, idNumber));
    });
    await database.query('UPDATE batches SET id_numbers = $2 WHERE id = $1', [id, former]);
  }
  await database.query("UPDATE secret_checks SET value = $1 WHERE name = 'INDEX_KEY'", [formerKeyId(vault)]);
  await database.query('SELECT put_index_key($1)', [formerKeyId(vault)]);
}

/** As if no service had said for a minute that it runs. */
export function forgetServices(database: Database): Promise<unknown> {
  return database.query(
    "UPDATE secret_checks SET seals_at = now() - interval '61 seconds' WHERE seals_at IS NOT NULL",
  );
}
