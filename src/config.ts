/** The environment, parsed once: every variable has a rule, and a value that breaks it is refused by name. */
import { resolve } from 'node:path';
import { ConfigError, type Read } from './config-error.ts';
import { readWhatsApp, type WhatsAppConfig } from './config-whatsapp.ts';
import type { Secrets } from './domain/secrets.ts';

export { ConfigError };

export const CHANNELS = ['simulator', 'log', 'whatsapp'] as const;
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  /** Empty, or begins with a slash and does not end with one. */
  readonly basePath: string;
  /** Absolute. */
  readonly dataDir: string;
  /** null: the embedded server. */
  readonly databaseUrl: string | null;
  readonly channelName: string;
  readonly channel: (typeof CHANNELS)[number];
  /** Of the channel `whatsapp`; null with the others. */
  readonly whatsapp: WhatsAppConfig | null;
  /** Whether `serve` delivers messages itself; `worker` always does. */
  readonly delivery: boolean;
  /** What all workers send together, at most; null: no limit. */
  readonly messagesPerSecond: number | null;
  /** Most different phones in any 24 hours; null: no limit. */
  readonly recipientsPerDay: number | null;
  /** Absolute; null: the built-in policy. */
  readonly policyFile: string | null;
  /** Absolute; null: the built-in contact windows. */
  readonly contactWindowsFile: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** null: made and kept under the data directory, which only the embedded server allows. */
  readonly secrets: Secrets | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const KEY_BYTES = 32;

/** Parses and checks the environment; an empty variable is the same as none. Throws `ConfigError`. */
export function readConfig(environment: Environment): Config {
  const read: Read = (name) => {
    const text = environment[name]?.trim();
    return text === '' ? undefined : text;
  };
  const databaseUrl = read('DATABASE_URL') ?? null;
  if (databaseUrl !== null && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new ConfigError('DATABASE_URL', 'must begin with postgres:// or postgresql://');
  }
  const policyFile = read('POLICY_FILE');
  const contactWindowsFile = read('CONTACT_WINDOWS_FILE');
  const channel = oneOf('CHANNEL', read('CHANNEL') ?? 'simulator', CHANNELS);
  return Object.freeze({
    host: read('HOST') ?? '127.0.0.1',
    port: port('PORT', read('PORT'), 8080),
    opsHost: read('OPS_HOST') ?? '127.0.0.1',
    opsPort: port('OPS_PORT', read('OPS_PORT'), 8081),
    basePath: basePath(read('BASE_PATH')),
    dataDir: resolve(read('DATA_DIR') ?? './data'),
    databaseUrl,
    channelName: channelName(read('CHANNEL_NAME')),
    channel,
    whatsapp: channel === 'whatsapp' ? readWhatsApp(read) : null,
    delivery: oneOf('DELIVERY', read('DELIVERY') ?? 'on', ['on', 'off']) === 'on',
    messagesPerSecond: limit('MESSAGES_PER_SECOND', read('MESSAGES_PER_SECOND') ?? '80'),
    recipientsPerDay: limit('RECIPIENTS_PER_DAY', read('RECIPIENTS_PER_DAY') ?? 'none'),
    policyFile: policyFile === undefined ? null : resolve(policyFile),
    contactWindowsFile: contactWindowsFile === undefined ? null : resolve(contactWindowsFile),
    logLevel: oneOf('LOG_LEVEL', read('LOG_LEVEL') ?? 'info', LOG_LEVELS),
    secrets: secrets(read, databaseUrl !== null),
  });
}

function port(variable: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) {
    throw new ConfigError(variable, 'must be a port number from 0 to 65535 (0: any free one)');
  }
  return value;
}

function limit(variable: string, text: string): number | null {
  if (text === 'none') return null;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new ConfigError(variable, 'must be a whole number from 1 on, or none');
  return Number(text);
}

function basePath(text: string | undefined): string {
  const path = (text ?? '').replace(/\/+$/, '');
  if (path !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) {
    throw new ConfigError('BASE_PATH', 'must be empty or a path such as /api/v1 (letters, digits, . _ ~ -)');
  }
  return path;
}

function channelName(text = 'messaging'): string {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(text)) {
    throw new ConfigError('CHANNEL_NAME', 'must be 1 to 40 lower-case letters, digits or _, a letter first');
  }
  return text;
}

function oneOf<T extends string>(variable: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new ConfigError(variable, `must be one of: ${values.join(', ')}`);
  return value;
}

function secrets(read: Read, ownDatabase: boolean): Secrets | null {
  const names = ['DATA_KEYS', 'INDEX_KEY', 'API_KEY_PEPPER'] as const;
  const missing = names.find((name) => read(name) === undefined);
  if (missing !== undefined) {
    const some = names.some((name) => read(name) !== undefined);
    if (!ownDatabase && !some) return null;
    throw new ConfigError(
      missing,
      `is required ${some ? `with the other of ${names.join(', ')}` : 'with DATABASE_URL'}`,
    );
  }
  return {
    dataKeys: dataKeys(read('DATA_KEYS') as string),
    indexKey: key('INDEX_KEY', read('INDEX_KEY') as string),
    apiKeyPepper: key('API_KEY_PEPPER', read('API_KEY_PEPPER') as string),
  };
}

function dataKeys(text: string): Map<number, Buffer> {
  const keys = new Map<number, Buffer>();
  for (const item of text.split(',')) {
    const [, id, encoded] = /^\s*(\d{1,3}):(.+?)\s*$/.exec(item) ?? [];
    if (
      id === undefined ||
      encoded === undefined ||
      Number(id) < 1 ||
      Number(id) > 255 ||
      keys.has(Number(id))
    ) {
      throw new ConfigError(
        'DATA_KEYS',
        'must be ID:KEY pairs joined by commas, each ID once and from 1 to 255',
      );
    }
    keys.set(Number(id), key('DATA_KEYS', encoded));
  }
  return keys;
}

function key(variable: string, encoded: string): Buffer {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES || !/^[A-Za-z0-9+/]{43}=$/.test(encoded)) {
    throw new ConfigError(
      variable,
      `must hold keys of ${KEY_BYTES} random bytes in base64 (openssl rand -base64 32)`,
    );
  }
  return bytes;
}
