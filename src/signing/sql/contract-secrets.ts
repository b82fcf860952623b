/**
 * The secrets of the PDFs. Each contract has a random secret of its own, which lies sealed in its row: so a reseal
 * touches rows alone, and a PDF whose row is gone cannot be read, wherever a copy of it lies.
 */
import { newFileSecret } from '../../documents/store/sealed-file.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Opening, ResealStep, SealedKind, SealedRows, SealedSearch } from '../../seal/witness.ts';

/** A new secret, and the secret as the row keeps it. The key of the shown PDF names the contract. */
export function newSecret(
  vault: Vault,
  shownKey: string,
): { readonly secret: Buffer; readonly sealed: Buffer } {
  const secret = newFileSecret();
  return { secret, sealed: vault.seal(secret, identityOf(shownKey)) };
}

/** The secret of a row. Throws as `Vault.open` does. */
export function openSecret(
  vault: Vault,
  { shownKey, sealed }: { readonly shownKey: string; readonly sealed: Buffer },
): Buffer {
  return vault.open(sealed, identityOf(shownKey));
}

function identityOf(shownKey: string): string {
  return `contract:${shownKey}`;
}

interface SealedRow {
  readonly id: string;
  readonly shown_key: string;
  readonly sealed: Buffer;
}

const OF_KEY = `
  SELECT id, shown_key, sealed FROM loan_contracts WHERE substring(sealed FROM 1 FOR 1) = $1 ORDER BY id LIMIT $2`;
const SAMPLES = 3;
/** So many are opened, to tell damaged ones apart. After a reseal only damaged ones are left. */
const MOST_OPENED = 1_000;

async function* sealedSecrets({ keyByte, rows }: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for (const { shown_key, sealed } of await rows<SealedRow>(OF_KEY, [keyByte, SAMPLES])) {
    yield (vault) => openSecret(vault, { shownKey: shown_key, sealed });
  }
}

const COUNT =
  'SELECT count(*)::integer AS rows FROM loan_contracts WHERE substring(sealed FROM 1 FOR 1) = $1';

async function secretsOf(database: Database, vault: Vault, keyId: number): Promise<SealedRows> {
  const keyByte = Buffer.of(keyId);
  const count = (await database.query<{ rows: number }>(COUNT, [keyByte])).rows[0]?.rows ?? 0;
  if (count > MOST_OPENED || !vault.hasDataKey(keyId)) return { needing: count, damaged: 0 };
  const { rows } = await database.query<SealedRow>(OF_KEY, [keyByte, MOST_OPENED]);
  const damaged = rows.filter((row) => resealed(vault, row) === null).length;
  return { needing: count - damaged, damaged };
}

const OTHERS = `
  SELECT id, shown_key, sealed FROM loan_contracts
  WHERE id > $1 AND sealed IS NOT NULL AND substring(sealed FROM 1 FOR 1) <> $2 ORDER BY id LIMIT 100`;
/** A row whose contract was dropped meanwhile stays without its secret. */
const RESEAL = 'UPDATE loan_contracts SET sealed = $2 WHERE id = $1 AND sealed = $3 AND may_seal($4)';

async function resealSecrets(database: Database, vault: Vault, from: string): Promise<ResealStep> {
  const { id } = vault.sealingKey;
  const { rows } = await database.query<SealedRow>(OTHERS, [from === '' ? 0 : from, Buffer.of(id)]);
  let [done, unopened] = [0, 0];
  for (const row of rows) {
    const again = resealed(vault, row);
    if (again === null) unopened += 1;
    else done += (await database.query(RESEAL, [row.id, again, row.sealed, id])).rowCount ?? 0;
  }
  return { next: rows.at(-1)?.id ?? null, resealed: done, unopened, applications: done };
}

function resealed(vault: Vault, { shown_key, sealed }: SealedRow): Buffer | null {
  try {
    return vault.reseal(sealed, identityOf(shown_key));
  } catch {
    return null;
  }
}

/** The secrets of contracts. */
export const CONTRACT_SECRETS: SealedKind = {
  name: 'contract secrets',
  find: sealedSecrets,
  rowsOf: secretsOf,
  reseal: resealSecrets,
};
