/**
 * Reads secrets from files, as orchestrators mount them: `DATA_KEYS_FILE` names a file that holds what `DATA_KEYS`
 * would. Touches these files and `.env`. docs/deploy.md ("What to set") has the rule.
 */
import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { errorCode } from '../../ground/base/describe-error.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../../ground/base/private-file.ts';
import { ConfigError, type Problems, type Read } from './config-error.ts';

/** Every variable that holds a secret. */
const SECRETS = [
  'DATABASE_URL',
  'MIGRATE_DATABASE_URL',
  'DATA_KEYS',
  'INDEX_KEY',
  'API_KEY_PEPPER',
  'WHATSAPP_ACCESS_TOKEN',
  'WHATSAPP_APP_SECRET',
  'WHATSAPP_VERIFY_TOKEN',
  'BACKUP_KEY',
  'AWS_SECRET_ACCESS_KEY',
  'SMS_AUTH_TOKEN',
  'BELVO_SECRET_PASSWORD',
  'OIDC_CLIENT_SECRET',
] as const;

/**
 * Reads variables as `read` does, and a secret from its file if `NAME_FILE` is set. Space around the file's text, such
 * as its last line feed, is left out.
 *
 * Puts an error into `problems` if both variables are set, and if a file cannot be read, is empty, or is this user's
 * own and open to others. No error shows a path: the value of `NAME_FILE` may be a secret that was put there by
 * mistake.
 */
export function withSecretFiles(read: Read, problems: Problems): Read {
  const texts = new Map<string, string | undefined>(
    SECRETS.map((name) => [name, problems.try(() => secretOf(read, name))]),
  );
  return (name) => (texts.has(name) ? texts.get(name) : read(name));
}

function secretOf(read: Read, name: string): string | undefined {
  const file = `${name}_FILE`;
  const path = read(file);
  if (path === undefined) return read(name);
  if (read(name) !== undefined) throw new ConfigError(file, `and ${name} are both set: set one of them`);
  const text = contentOf(file, path).trim();
  if (isOpenToOthers(statSync(path))) throw new ConfigError(file, `names a file that ${OPEN_TO_OTHERS}`);
  if (text === '') throw new ConfigError(file, 'names an empty file');
  return text;
}

function contentOf(file: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(file, `names a file that cannot be read (${errorCode(error)})`);
  }
}

/** Throws `ConfigError` if the file of variables holds a secret, is this user's own and is open to others. */
export function refuseOpenEnvFile(path: string): void {
  let text: string;
  try {
    if (!isOpenToOthers(statSync(path))) return;
    text = readFileSync(path, 'utf8');
  } catch {
    // There is no such file, or the program has reported it already.
    return;
  }
  const variables = parseEnv(text);
  const secret = SECRETS.find((name) => variables[name]);
  if (secret !== undefined) throw new ConfigError('.env', `has ${secret} and ${OPEN_TO_OTHERS}`);
}
