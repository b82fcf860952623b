/** The installation's secrets: from a file of its own, and checked against the database they belong to. */
import { createHmac, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Secrets } from '../domain/secrets.ts';
import { type Database, inTransaction, SetupError } from './database.ts';

const FILE = 'secrets.json';
const KEY_BYTES = 32;

/**
 * The secrets under a data directory, made on the first call and readable by their owner alone. Two
 * processes that make them at once end with the same. Whoever loses the file loses the personal data.
 */
export async function secretsOfDataDir(dataDir: string): Promise<Secrets> {
  const path = join(dataDir, FILE);
  const draft = join(dataDir, `.${FILE}.${process.pid}.${randomBytes(4).toString('hex')}`);
  const fresh = () => randomBytes(KEY_BYTES).toString('base64');
  try {
    return parseSecrets(await readFile(path, 'utf8'), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = { data_keys: { '1': fresh() }, index_key: fresh(), api_key_pepper: fresh() };
  await writeFile(draft, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return parseSecrets(await readFile(path, 'utf8'), path);
}

function parseSecrets(text: string, path: string): Secrets {
  try {
    const file = JSON.parse(text) as { data_keys: object; index_key: string; api_key_pepper: string };
    const decode = (encoded: string) => {
      const bytes = Buffer.from(encoded, 'base64');
      if (bytes.length !== KEY_BYTES) throw new RangeError('not a key');
      return bytes;
    };
    const dataKeys = Object.entries(file.data_keys).map(([id, key]): [number, Buffer] => {
      if (!/^[1-9]\d{0,2}$/.test(id) || Number(id) > 255) throw new RangeError('not a key id');
      return [Number(id), decode(key)];
    });
    if (dataKeys.length === 0) throw new RangeError('no data key');
    return {
      dataKeys: new Map(dataKeys),
      indexKey: decode(file.index_key),
      apiKeyPepper: decode(file.api_key_pepper),
    };
  } catch {
    throw new SetupError(
      `${path} is damaged: restore it from a backup, without it personal data stays sealed`,
    );
  }
}

const REMEMBER = `
  INSERT INTO secret_checks (name, value) SELECT * FROM unnest($1::text[], $2::uuid[])
  ON CONFLICT (name) DO NOTHING`;

/**
 * Refuses secrets other than those that the database was made with: another index key would let duplicates
 * pass, another pepper would lock every partner out. Remembers a fingerprint of each on first sight, in one
 * transaction: secrets that are refused leave nothing behind that the right ones would lack.
 */
export async function checkSecrets(database: Database, secrets: Secrets): Promise<void> {
  const fingerprints = new Map<string, string>([
    ['INDEX_KEY', fingerprint(secrets.indexKey)],
    ['API_KEY_PEPPER', fingerprint(secrets.apiKeyPepper)],
  ]);
  for (const [id, key] of secrets.dataKeys) fingerprints.set(`DATA_KEYS ${id}`, fingerprint(key));
  await inTransaction(database, async (session) => {
    await session.query(REMEMBER, [[...fingerprints.keys()], [...fingerprints.values()]]);
    const { rows } = await session.query<{ name: string; value: string }>(
      'SELECT name, value FROM secret_checks ORDER BY name',
    );
    for (const { name, value } of rows) refuseOther(name, value.replaceAll('-', ''), fingerprints.get(name));
  });
}

function refuseOther(name: string, known: string, given: string | undefined): void {
  if (given === undefined) {
    throw new SetupError(`${name} is missing: the database holds data sealed with it`);
  }
  if (given !== known) throw new SetupError(`${name} is not the one that this database was made with`);
}

function fingerprint(key: Buffer): string {
  return createHmac('sha256', key).update('fingerprint').digest('hex').slice(0, 32);
}
