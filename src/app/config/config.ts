/**
 * The variables of the process, read once. Every variable has a rule; an error names the variable that breaks its
 * rule.
 */
import { resolve } from 'node:path';
import { describeError } from '../../ground/base/describe-error.ts';
import { type ReadSetting, readPort } from '../../ground/base/setting.ts';
import { ACTOR_RULE, readActor } from '../../program/operations/actor.ts';
import type { Secrets } from '../../seal/vault.ts';
import { readDataKeys, readIndexKeys, readPeppers } from '../../seal/written-keys.ts';
import { SUBJECTS } from '../subjects.ts';
import { type BackupConfig, readBackup } from './backup.ts';
import { ConfigError, Problems, type Read } from './config-error.ts';
import { databaseUrl, migrateDatabaseUrl } from './database.ts';
import { withSecretFiles } from './secret-files.ts';
import { readTracing } from './tracing.ts';
import { readWhatsApp, type WhatsAppConfig } from './whatsapp.ts';

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
 * each; where files of secrets have errors, with these alone.
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
 * The operator's own database may hold real people, whose messages the simulator would mark as delivered: no default.
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
