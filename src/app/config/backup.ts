/** BACKUP_TO, BACKUP_KEY and BACKUP_KEEP, and the standard variables of S3. */
import { resolve, sep } from 'node:path';
import { describeError } from '../../ground/base/describe-error.ts';
import type { S3Account } from '../../ground/places/s3.ts';
import { s3AccountOf } from '../../ground/places/s3-account.ts';
import type { Secrets } from '../../seal/vault.ts';
import { readKey } from '../../seal/written-keys.ts';
import { ConfigError, type Problems, type Read } from './config-error.ts';

/** The settings of backups. */
export interface BackupConfig {
  /** The default place, an absolute path or s3://bucket/prefix; null: the service makes no backups by itself. */
  readonly to: string | null;
  /** null: no backup can be made or read. */
  readonly key: Buffer | null;
  /** How many finished backups stay in `to`. */
  readonly keep: number;
  /** The account for places such as s3://bucket/prefix; null: none. */
  readonly s3: S3Account | null;
}

/** What the place and the key are compared with. */
interface Around {
  readonly dataDir: string;
  readonly ownDatabase: boolean;
  readonly secrets: Secrets | null;
}

export function readBackup(read: Read, around: Around, problems: Problems): BackupConfig {
  const to = read('BACKUP_TO');
  return {
    to: problems.try(() => defaultPlace(to, around)),
    key: problems.try(() => backupKey(read('BACKUP_KEY'), to !== undefined, around.secrets)),
    s3: problems.try(() => s3Account(read)),
    keep: problems.try(() => readKeep(read('BACKUP_KEEP') ?? '14')),
  };
}

function defaultPlace(text: string | undefined, { dataDir, ownDatabase }: Around): string | null {
  if (text === undefined) return null;
  if (ownDatabase) {
    throw new ConfigError(
      'BACKUP_TO',
      'is for the embedded database: docs/backup.md says how the one of DATABASE_URL is backed up',
    );
  }
  if (text.includes('://')) return text;
  const path = resolve(text);
  if (`${path}${sep}`.startsWith(`${dataDir}${sep}`)) {
    throw new ConfigError('BACKUP_TO', 'must lie outside of DATA_DIR, which may be lost');
  }
  return path;
}

function backupKey(text: string | undefined, isRequired: boolean, secrets: Secrets | null): Buffer | null {
  if (text === undefined) {
    if (isRequired) throw new ConfigError('BACKUP_KEY', 'is required with BACKUP_TO');
    return null;
  }
  try {
    const key = readKey(text);
    const others =
      secrets === null ? [] : [secrets.indexKey, secrets.apiKeyPepper, ...secrets.dataKeys.values()];
    if (!others.some((other) => other?.equals(key))) return key;
  } catch (error) {
    throw new ConfigError('BACKUP_KEY', describeError(error));
  }
  throw new ConfigError(
    'BACKUP_KEY',
    'must be a key of its own, so that data and their keys do not lie together',
  );
}

function s3Account(read: Read): S3Account | null {
  const endpoint = read('AWS_ENDPOINT_URL_S3');
  if (endpoint !== undefined && !/^https?:\/\/[^/]/.test(endpoint)) {
    throw new ConfigError('AWS_ENDPOINT_URL_S3', 'must begin with https:// or http://');
  }
  return s3AccountOf(read);
}

function readKeep(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw new ConfigError('BACKUP_KEEP', 'must be a whole number from 1 to 999');
  return Number(text);
}
