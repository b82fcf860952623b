/**
 * Reads the secrets of the embedded store from a file under DATA_DIR, or makes the file once. Touches that file alone.
 * docs/backup.md and docs/keys.md say what depends on it.
 */
import { randomBytes } from 'node:crypto';
import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../ground/base/clock.ts';
import { errorCode } from '../ground/base/describe-error.ts';
import { syncDirectory } from '../ground/files/sync-directory.ts';
import { discard, discardStale, temporaryBeside } from '../ground/files/temporary.ts';
import { SetupError } from '../ground/postgres/setup-error.ts';
import type { Secrets } from './vault.ts';
import { readDataKeys, readIndexKeys, readPeppers } from './written-keys.ts';

const FILE = 'secrets.json';
const KEY_BYTES = 32;

/**
 * The secrets under a data directory. If there are none and `mayMake` is true, makes them, readable only by their
 * owner; two processes that make them at once get the same ones, and the file is on disk when this returns. The loss
 * of the file is the loss of the personal data, so `mayMake` is false if data may be stored. Throws `SetupError` if
 * the file is missing, cannot be read or is damaged; the file stays as it is.
 */
export async function secretsOfDataDir(dataDir: string, mayMake: boolean, clock: Clock): Promise<Secrets> {
  const path = join(dataDir, FILE);
  // A process that was killed while it made the secrets may have left a copy.
  await discardStale(path, clock).catch(() => {});
  const found = await readIfThere(path);
  if (found !== undefined) {
    // Another process may have made the file a moment ago.
    if (mayMake) await syncDirectory(dataDir);
    return parseSecrets(found, path);
  }
  if (!mayMake) {
    throw new SetupError(
      `${path} is missing, and without it the personal data stays sealed: restore it from a backup, or set DATA_KEYS, INDEX_KEY and API_KEY_PEPPER`,
    );
  }
  await makeSecretsFile(path);
  await syncDirectory(dataDir);
  return parseSecrets((await readIfThere(path)) ?? '', path);
}

async function makeSecretsFile(path: string): Promise<void> {
  const unfinished = temporaryBeside(path);
  const fresh = () => randomBytes(KEY_BYTES).toString('base64');
  const made = { data_keys: [`1:${fresh()}`], index_key: fresh(), api_key_pepper: fresh() };
  try {
    await writeFile(unfinished, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flush: true });
    await link(unfinished, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST')
      throw new SetupError(`${path} could not be made (${errorCode(error)})`);
  } finally {
    await discard(unfinished);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new SetupError(
      `${path} cannot be read (${errorCode(error)}), and without it the personal data stays sealed: make it readable for this user alone`,
    );
  }
}

function parseSecrets(text: string, path: string): Secrets {
  const file = parseJson(text);
  const dataKeys = pairsOf(file?.data_keys);
  if (dataKeys === 'unordered') {
    throw new SetupError(
      `${path} does not say which of its data keys seals: write data_keys as a list with the sealing key first: ["2:KEY", "1:KEY"]`,
    );
  }
  try {
    return {
      dataKeys: readDataKeys(dataKeys),
      ...readIndexKeys([file?.index_key].flat()),
      ...readPeppers([file?.api_key_pepper].flat()),
    };
  } catch {
    throw new SetupError(
      `${path} is damaged: restore it from a backup, without it personal data stays sealed`,
    );
  }
}

function parseJson(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null;
  }
}

/** A list of ID:KEY pairs. An object may have only one key, because its members have no order in JSON. */
function pairsOf(value: unknown): readonly unknown[] | 'unordered' {
  if (Array.isArray(value)) return value;
  const members = Object.entries(typeof value === 'object' && value !== null ? value : {});
  return members.length > 1 ? 'unordered' : members.map(([id, key]) => `${id}:${key}`);
}
