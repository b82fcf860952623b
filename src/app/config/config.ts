/**
 * Reads and checks the variables of the process, once. Every variable has a rule; an error names the variable that
 * breaks it. Reads files of secrets (`secret-files.ts`). `.env.example` lists all variables; docs/deploy.md ("What to
 * set") has the rest.
 */
import { resolve, sep } from 'node:path';
import { describeError } from '../../ground/base/describe-error.ts';
import { isLoopback } from '../../ground/base/loopback.ts';
import { type ReadSetting, readPort } from '../../ground/base/setting.ts';
import type { S3Account } from '../../ground/places/s3.ts';
import { s3AccountOf } from '../../ground/places/s3-account.ts';
import { ACTOR_RULE, readActor } from '../../program/operations/acting.ts';
import type { Secrets } from '../../seal/vault.ts';
import { readDataKeys, readIndexKeys, readKey, readPeppers } from '../../seal/written-keys.ts';
import { SUBJECTS } from '../subjects.ts';
import { ConfigError, Problems, type Read } from './config-error.ts';
import { withSecretFiles } from './secret-files.ts';

export { ConfigError };

const CHANNELS = ['simulator', 'log', 'whatsapp'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The configuration of a process. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly healthHost: string;
  /** null: no health listener. */
  readonly healthPort: number | null;
  readonly metricsHost: string;
  /** null: the operators' listener has the metrics. */
  readonly metricsPort: number | null;
  /** Empty, or begins with a slash and does not end with one. */
  readonly basePath: string;
  /** Absolute. */
  readonly dataDir: string;
  /** null: the embedded server. */
  readonly databaseUrl: string | null;
  /** The URL of the owner of the tables, who migrates; null: the role of `databaseUrl` does, if it may. */
  readonly migrateDatabaseUrl: string | null;
  readonly consentChannel: string;
  readonly channel: (typeof CHANNELS)[number];
  /** The settings of the channel `whatsapp`; null with another channel. */
  readonly whatsapp: WhatsAppConfig | null;
  /** Whether `serve` itself delivers messages and pushes events; `worker` always does. */
  readonly delivery: boolean;
  readonly backup: BackupConfig;
  /** Whether the process sends traces to a collector. */
  readonly tracing: boolean;
  /** Absolute; null: the built-in policy. */
  readonly policyFile: string | null;
  /** Who acts by commands, for the history; null: the operating system's user. */
  readonly operator: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** null: the secrets are made and kept in the data directory. Only the embedded server allows this. */
  readonly secrets: Secrets | null;
  /** The value of a variable that one subject alone reads. */
  readonly setting: ReadSetting;
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the variables. An empty variable counts as absent. Throws one `ConfigError` with every error, a line
 * each; only with the errors of files of secrets, if there are any.
 */
export function readConfig(variables: Variables): Config {
  const problems = new Problems();
  const read = withSecretFiles((name) => {
    const text = variables[name]?.trim();
    return text === '' ? undefined : text;
  }, problems);
  problems.throwIfAny();
  const ownDatabase = read('DATABASE_URL') !== undefined;
  const file = (name: string) => {
    const path = read(name);
    return path === undefined ? null : resolve(path);
  };
  const base = {
    dataDir: resolve(read('DATA_DIR') ?? './data'),
    databaseUrl: problems.try(() => databaseUrl(read('DATABASE_URL'))),
    migrateDatabaseUrl: problems.try(() => migrateDatabaseUrl(read('MIGRATE_DATABASE_URL'), ownDatabase)),
    secrets: secrets(read, ownDatabase, problems),
    channel: problems.try(() => channelOf(read('CHANNEL'), ownDatabase)),
  };
  const setting: ReadSetting = ({ variable, excludes, read: readText }) => {
    const isBeside = excludes !== undefined && (read(excludes) ?? 'none') !== 'none';
    if (isBeside && read(variable) !== undefined) {
      throw new ConfigError(variable, `does not go with ${excludes}: set one of the two`);
    }
    try {
      // Any text: a program without the simulator has no such channel.
      const { dataDir, channel }: { dataDir: string; channel: string } = base;
      return readText(read(variable), { dataDir, ownDatabase, isSimulated: channel === 'simulator' });
    } catch (error) {
      throw new ConfigError(variable, describeError(error));
    }
  };
  for (const one of SUBJECTS.flatMap(({ settings = [] }) => settings)) problems.try(() => setting(one));
  const config = Object.freeze({
    ...base,
    setting,
    whatsapp: base.channel === 'whatsapp' ? readWhatsApp(read, problems) : null,
    host: read('HOST') ?? '127.0.0.1',
    port: problems.try(() => portOf('PORT', read('PORT'), 8080)),
    opsHost: read('OPS_HOST') ?? '127.0.0.1',
    opsPort: problems.try(() => portOf('OPS_PORT', read('OPS_PORT'), 8081)),
    healthHost: read('HEALTH_HOST') ?? '127.0.0.1',
    healthPort: problems.try(() => portOf('HEALTH_PORT', read('HEALTH_PORT'), null)),
    metricsHost: read('METRICS_HOST') ?? '127.0.0.1',
    metricsPort: problems.try(() => portOf('METRICS_PORT', read('METRICS_PORT'), null)),
    basePath: problems.try(() => basePath(read('BASE_PATH'))),
    consentChannel: problems.try(() => readConsentChannel(read('CHANNEL_NAME'))),
    delivery: problems.try(() => oneOf('DELIVERY', read('DELIVERY') ?? 'on', ['on', 'off']) === 'on'),
    backup: readBackup(read, { ...base, ownDatabase }, problems),
    tracing: readTracing(read, problems),
    policyFile: file('POLICY_FILE'),
    operator: problems.try(() => operatorOf(read('OPERATOR'))),
    logLevel: problems.try(() => oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', LOG_LEVELS)),
  });
  problems.throwIfAny();
  return config;
}

function operatorOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const name = readActor(text);
  if (name === null) throw new ConfigError('OPERATOR', ACTOR_RULE);
  return name;
}

/**
 * Has no default for the operator's own database, which may hold real people: the simulator would mark their messages
 * as delivered.
 */
function channelOf(text: string | undefined, ownDatabase: boolean): Config['channel'] {
  if (text === undefined && ownDatabase) {
    throw new ConfigError('CHANNEL', `is required with DATABASE_URL, one of: ${CHANNELS.join(', ')}`);
  }
  return oneOf('CHANNEL', text ?? 'simulator', CHANNELS);
}

function portOf<T>(variable: string, text: string | undefined, fallback: T): number | T {
  if (text === undefined) return fallback;
  try {
    return readPort(text);
  } catch (error) {
    throw new ConfigError(variable, describeError(error));
  }
}

function basePath(text: string | undefined): string {
  const path = (text ?? '').replace(/\/+$/, '');
  if (path !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) {
    throw new ConfigError('BASE_PATH', 'must be empty or a path such as /api/v1 (letters, digits, . _ ~ -)');
  }
  return path;
}

function readConsentChannel(text = 'messaging'): string {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(text)) {
    throw new ConfigError(
      'CHANNEL_NAME',
      'must be 1 to 40 lower-case letters, digits or _, and begin with a letter',
    );
  }
  return text;
}

function oneOf<T extends string>(variable: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new ConfigError(variable, `must be one of: ${values.join(', ')}`);
  return value;
}

function secrets(read: Read, ownDatabase: boolean, problems: Problems): Secrets | null {
  const names = ['DATA_KEYS', 'INDEX_KEY', 'API_KEY_PEPPER'] as const;
  const some = names.some((name) => read(name) !== undefined);
  if (!ownDatabase && !some) return null;
  const part = <T>(name: string, parse: (text: string) => T) =>
    problems.try(() => {
      const text = read(name);
      if (text === undefined) {
        const why = some ? `where any of ${names.join(', ')} is set` : 'with DATABASE_URL';
        throw new ConfigError(name, `is required ${why}`);
      }
      try {
        return parse(text);
      } catch (error) {
        throw new ConfigError(name, describeError(error));
      }
    });
  return {
    dataKeys: part('DATA_KEYS', (text) => readDataKeys(text.split(','))),
    ...part('INDEX_KEY', (text) => readIndexKeys(text.split(','))),
    ...part('API_KEY_PEPPER', (text) => readPeppers(text.split(','))),
  };
}

// BACKUP_TO, BACKUP_KEY and BACKUP_KEEP, and the standard variables of S3.

/** The settings of backups. */
interface BackupConfig {
  /** The default place, an absolute path or s3://bucket/prefix; null: the service makes no backups by itself. */
  readonly to: string | null;
  /** null: no backup can be made or read. */
  readonly key: Buffer | null;
  /** How many finished backups stay in `to`. */
  readonly keep: number;
  /** The account for places such as s3://bucket/prefix; null: none. */
  readonly s3: S3Account | null;
}

/** The settings that the place and the key are compared with. */
interface Around {
  readonly dataDir: string;
  readonly ownDatabase: boolean;
  readonly secrets: Secrets | null;
}

function readBackup(read: Read, around: Around, problems: Problems): BackupConfig {
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

// DATABASE_URL and MIGRATE_DATABASE_URL.

/** The URL of the service's own role; null: the embedded server. */
function databaseUrl(text: string | undefined): string | null {
  return urlOf('DATABASE_URL', text);
}

/** The URL of the owner of the tables; null: none is given. */
function migrateDatabaseUrl(text: string | undefined, ownDatabase: boolean): string | null {
  const name = 'MIGRATE_DATABASE_URL';
  if (text !== undefined && !ownDatabase) {
    throw new ConfigError(
      name,
      'is the owner of the tables: set DATABASE_URL as well, to the role of the service',
    );
  }
  return urlOf(name, text);
}

function urlOf(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(name, 'must begin with postgres:// or postgresql://');
  }
  return text;
}

// The variables of the channel `whatsapp`.

/** The settings of the channel `whatsapp`. */
export interface WhatsAppConfig {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  readonly phoneNumberId: string;
  /** The account whose templates the console shows; null: it asks for none. */
  readonly accountId: string | null;
  readonly accessToken: string;
  /** Signs the webhooks. */
  readonly appSecret: string;
  /** Proves the subscription of the webhooks. */
  readonly verifyToken: string;
}

/** Reads and checks the variables. The URL and the account are optional. Errors go to `problems`. */
function readWhatsApp(read: Read, problems: Problems): WhatsAppConfig {
  const required = (name: string, pattern: RegExp, rule: string) =>
    problems.try(() => {
      const text = read(name);
      if (text === undefined) throw new ConfigError(name, 'is required with CHANNEL=whatsapp');
      if (!pattern.test(text)) throw new ConfigError(name, rule);
      return text;
    });
  const secret = (name: string) => required(name, /^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');
  return {
    apiUrl: problems.try(() => apiUrl(read('WHATSAPP_API_URL') ?? 'https://graph.facebook.com/v25.0')),
    phoneNumberId: required(
      'WHATSAPP_PHONE_NUMBER_ID',
      /^\d+$/,
      'must be the ID of the phone number, digits only',
    ),
    accountId: problems.try(() => accountId(read('WHATSAPP_ACCOUNT_ID'))),
    accessToken: secret('WHATSAPP_ACCESS_TOKEN'),
    appSecret: secret('WHATSAPP_APP_SECRET'),
    verifyToken: secret('WHATSAPP_VERIFY_TOKEN'),
  };
}

function accountId(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^\d+$/.test(text)) return text;
  throw new ConfigError('WHATSAPP_ACCOUNT_ID', 'must be the ID of the business account, digits only');
}

function apiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Every request carries the access token, so only HTTPS or a loopback address is safe.
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !safe || `${url.username}${url.password}${url.search}${url.hash}` !== '') {
    throw new ConfigError(
      'WHATSAPP_API_URL',
      'must be an https URL without user or query (http is allowed on this machine only)',
    );
  }
  return url.href.replace(/\/+$/, '');
}

// The standard variables of OpenTelemetry that decide whether a process is traced; the SDK reads the others.

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'];

/**
 * Whether the process is traced: an endpoint or the exporter is named, and OTEL_SDK_DISABLED is not true. A value that
 * the SDK would replace by another one is a problem.
 */
function readTracing(read: Read, problems: Problems): boolean {
  const exporter = read('OTEL_TRACES_EXPORTER');
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return false;
  if (exporter === undefined && ENDPOINTS.every((name) => read(name) === undefined)) return false;
  const check = (name: string, rule: string, holds: (text: string) => boolean) =>
    problems.try(() => {
      const text = read(name);
      if (text !== undefined && !holds(text)) throw new ConfigError(name, rule);
    });
  check('OTEL_TRACES_EXPORTER', 'must be otlp or none', (text) => text === 'otlp');
  for (const name of ENDPOINTS) check(name, 'must be a URL that begins with http:// or https://', isHttpUrl);
  for (const name of PROTOCOLS) check(name, 'must be http/protobuf', (text) => text === 'http/protobuf');
  check('OTEL_TRACES_SAMPLER', `must be one of: ${SAMPLERS.join(', ')}`, (text) => SAMPLERS.includes(text));
  check(
    'OTEL_TRACES_SAMPLER_ARG',
    'must be a number from 0 to 1',
    (text) => Number(text) >= 0 && Number(text) <= 1,
  );
  return true;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
