import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { ConfigError, readConfig } from '../../src/app/config/config.ts';
import { refuseOpenEnvFile } from '../../src/app/config/secret-files.ts';
import { SUBJECTS } from '../../src/app/subjects.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 200).toString('base64');
const SECRETS = { DATA_KEYS: `1:${KEY}`, INDEX_KEY: OTHER_KEY, API_KEY_PEPPER: KEY };
const WHATSAPP = {
  CHANNEL: 'whatsapp',
  WHATSAPP_PHONE_NUMBER_ID: '106540352242922',
  WHATSAPP_ACCESS_TOKEN: 'EAAhunter2token',
  WHATSAPP_APP_SECRET: 'hunter2secret',
  WHATSAPP_VERIFY_TOKEN: 'hunter2verify',
};
const VARIABLES = [
  ...'HOST PORT OPS_HOST OPS_PORT HEALTH_HOST HEALTH_PORT METRICS_HOST METRICS_PORT METRICS_PARTNERS BASE_PATH DATA_DIR DATABASE_URL CHANNEL_NAME POLICY_FILE CONTACT_WINDOWS_FILE LOG_LEVEL'.split(
    ' ',
  ),
  ...Object.keys(SECRETS),
  ...Object.keys(WHATSAPP),
  'WHATSAPP_API_URL',
  'WHATSAPP_ACCOUNT_ID',
  'DELIVERY',
  'MESSAGES_PER_SECOND',
  'RECIPIENTS_PER_DAY',
  'MESSAGES_PER_PHONE',
  'REJECTIONS_PER_PHONE',
  ...['RETENTION_DAYS', 'RETENTION_POLICY'],
  ...['CONVERSATION_DAYS', 'REVIEW_DUE_HOURS', 'UNDO_SECONDS', 'SECOND_LOOK_SHARE'],
  ...['RECONSIDERATION_DAYS', 'DATA_REQUEST_DAYS'],
  ...['DOCUMENT_STORE', 'DOCUMENT_MOST_MB', 'DOCUMENT_DAYS', 'DOCUMENT_LAYOUTS', 'CLAMD'],
  ...['DOCUMENT_READER', 'DOCUMENT_READING_SECONDS'],
  ...[
    'TERMS_FILE',
    'SIGNING_CERTIFICATE_FILE',
    'SIGNING_KEY_FILE',
    'TSA_URL',
    'CODE_WAY',
    'CODES_AN_HOUR',
    'CODE_TEMPLATE',
  ],
  ...[
    'SMS_API_URL',
    'SMS_ACCOUNT_SID',
    'SMS_AUTH_TOKEN',
    'SMS_AUTH_TOKEN_FILE',
    'SMS_FROM',
    'CONTRACT_YEARS',
  ],
  ...['BELVO_URL', 'BELVO_SECRET_ID', 'BELVO_SECRET_PASSWORD', 'BELVO_RETURN_URL'],
  ...['CONSOLE_PORT', 'CONSOLE_HOST', 'CONSOLE_URL', 'CONSOLE_TRUSTED_PROXIES'],
  ...['PORTAL_PORT', 'PORTAL_HOST', 'PORTAL_URL', 'PORTAL_TRUSTED_PROXIES'],
  ...['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_CLIENT_SECRET_FILE', 'OIDC_SECOND_FACTOR'],
  'ENDPOINT_HOSTS',
  ...['BACKUP_TO', 'BACKUP_KEY', 'BACKUP_KEEP'],
  ...['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_ENDPOINT_URL_S3'],
  ...['OTEL_SDK_DISABLED', 'OTEL_TRACES_EXPORTER'],
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
  'OPERATOR',
  'DATABASE_URL_FILE',
  'MIGRATE_DATABASE_URL',
  'MIGRATE_DATABASE_URL_FILE',
  ...Object.keys(SECRETS).map((name) => `${name}_FILE`),
  ...['ACCESS_TOKEN', 'APP_SECRET', 'VERIFY_TOKEN'].map((name) => `WHATSAPP_${name}_FILE`),
  ...['BACKUP_KEY_FILE', 'AWS_SECRET_ACCESS_KEY_FILE', 'BELVO_SECRET_PASSWORD_FILE'],
];

const folder = await mkdtemp(join(tmpdir(), 'config-'));
after(() => rm(folder, { recursive: true }));
let files = 0;

/** The path of a new file with this text. */
async function fileOf(text: string): Promise<string> {
  files += 1;
  const path = join(folder, `${files}`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  opsHost: '127.0.0.1',
  opsPort: 8081,
  healthHost: '127.0.0.1',
  healthPort: null,
  tracing: false,
  metricsHost: '127.0.0.1',
  metricsPort: null,
  METRICS_PARTNERS: 100,
  basePath: '',
  dataDir: resolve('data'),
  databaseUrl: null,
  migrateDatabaseUrl: null,
  consentChannel: 'messaging',
  channel: 'simulator',
  whatsapp: null,
  delivery: true,
  MESSAGES_PER_SECOND: 80,
  RECIPIENTS_PER_DAY: null,
  MESSAGES_PER_PHONE: 3,
  REJECTIONS_PER_PHONE: 1,
  ENDPOINT_HOSTS: new Set(),
  RETENTION_DAYS: null,
  RETENTION_POLICY: null,
  CONVERSATION_DAYS: null,
  REVIEW_DUE_HOURS: 24,
  UNDO_SECONDS: 10,
  SECOND_LOOK_SHARE: 0.02,
  RECONSIDERATION_DAYS: 10,
  DATA_REQUEST_DAYS: 10,
  DOCUMENT_STORE: resolve('data/documents'),
  DOCUMENT_MOST_MB: 25_000_000,
  DOCUMENT_DAYS: null,
  DOCUMENT_LAYOUTS: null,
  DOCUMENT_READER: 'demonstration',
  DOCUMENT_READING_SECONDS: 300,
  CLAMD: null,
  TERMS_FILE: 'demonstration',
  SIGNING_CERTIFICATE_FILE: { dataDir: resolve('data') },
  SIGNING_KEY_FILE: null,
  TSA_URL: null,
  CODE_WAY: 'simulator',
  CODE_TEMPLATE: 'ventanilla_code',
  CODES_AN_HOUR: 1000,
  SMS_API_URL: 'https://api.twilio.com',
  SMS_ACCOUNT_SID: null,
  SMS_AUTH_TOKEN: null,
  SMS_FROM: null,
  CONTRACT_YEARS: 10,
  CONSOLE_PORT: null,
  CONSOLE_HOST: '127.0.0.1',
  CONSOLE_URL: null,
  CONSOLE_TRUSTED_PROXIES: [],
  PORTAL_PORT: null,
  PORTAL_HOST: '127.0.0.1',
  PORTAL_URL: null,
  PORTAL_TRUSTED_PROXIES: [],
  OIDC_ISSUER: null,
  OIDC_CLIENT_ID: null,
  OIDC_CLIENT_SECRET: null,
  OIDC_SECOND_FACTOR: [],
  BELVO_URL: null,
  BELVO_SECRET_ID: '',
  BELVO_SECRET_PASSWORD: '',
  BELVO_RETURN_URL: null,
  backup: { to: null, key: null, keep: 14, s3: null },
  policyFile: null,
  CONTACT_WINDOWS_FILE: null,
  operator: null,
  logLevel: 'info',
  secrets: null,
};

/** The configuration as data, each setting of a subject under the name of its variable. */
function readAll(environment: Record<string, string>) {
  const { setting, ...rest } = readConfig(environment);
  const settings = SUBJECTS.flatMap(({ settings = [] }) => settings);
  return { ...rest, ...Object.fromEntries(settings.map((one) => [one.variable, setting(one)])) };
}

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  assert.fail(`accepted: ${JSON.stringify(environment)}`);
}

describe('readConfig', () => {
  it('without variables the configuration has the defaults; an empty or blank variable counts as absent', () => {
    assert.deepEqual(readAll({}), DEFAULTS);
    for (const blank of ['', '  ']) {
      assert.deepEqual(readAll(Object.fromEntries(VARIABLES.map((name) => [name, blank]))), DEFAULTS);
    }
  });

  it('reads the documented variables and no others', () => {
    const read = new Set<string>();
    const spy = new Proxy({} as Record<string, string>, {
      get(_, name) {
        read.add(String(name));
        return ({ ...SECRETS, ...WHATSAPP } as Record<string, string>)[String(name)];
      },
    });
    readConfig(spy);
    assert.deepEqual([...read].sort(), [...VARIABLES].sort());
  });

  it('.env.example lists exactly the variables that are read, each once', async () => {
    const text = await readFile(resolve(import.meta.dirname, '../../.env.example'), 'utf8');
    const listed = [...text.matchAll(/^(?:# ?)?([A-Z][A-Z0-9_]*)=/gm)].map((match) => match[1] as string);
    assert.deepEqual(listed.sort(), [...VARIABLES].sort());
  });

  it('each variable sets its own part', () => {
    const accepted: [Record<string, string>, object][] = [
      [{ HOST: '0.0.0.0' }, { host: '0.0.0.0' }],
      [{ OPS_HOST: '::1' }, { opsHost: '::1' }],
      [{ PORT: '0' }, { port: 0 }],
      [{ PORT: ' 65535 ' }, { port: 65_535 }],
      [{ OPS_PORT: '9000' }, { opsPort: 9_000 }],
      [{ HEALTH_HOST: '0.0.0.0' }, { healthHost: '0.0.0.0' }],
      [{ HEALTH_PORT: '8082' }, { healthPort: 8_082 }],
      [{ METRICS_HOST: '0.0.0.0' }, { metricsHost: '0.0.0.0' }],
      [{ METRICS_PORT: '9464' }, { metricsPort: 9_464 }],
      [{ METRICS_PARTNERS: '0' }, { METRICS_PARTNERS: 0 }],
      [{ METRICS_PARTNERS: '1000' }, { METRICS_PARTNERS: 1_000 }],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, { tracing: true }],
      [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector/v1/traces' }, { tracing: true }],
      [{ OTEL_TRACES_EXPORTER: 'otlp' }, { tracing: true }],
      [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector' }, { tracing: false }],
      [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector' }, { tracing: false }],
      [{ OTEL_SERVICE_NAME: 'x' }, { tracing: false }],
      [{ BASE_PATH: '/' }, { basePath: '' }],
      [{ BASE_PATH: '/api' }, { basePath: '/api' }],
      [{ BASE_PATH: '/api/v1/' }, { basePath: '/api/v1' }],
      ...['/var/lib/x', 'x'].map((text): [Record<string, string>, object] => {
        const dataDir = resolve(text);
        const within = { DOCUMENT_STORE: join(dataDir, 'documents'), SIGNING_CERTIFICATE_FILE: { dataDir } };
        return [{ DATA_DIR: text }, { dataDir, ...within }];
      }),
      [{ TERMS_FILE: 'terms.json' }, { TERMS_FILE: { path: resolve('terms.json') } }],
      [
        { SIGNING_CERTIFICATE_FILE: 'a.pem', SIGNING_KEY_FILE: 'b.pem' },
        { SIGNING_CERTIFICATE_FILE: { path: resolve('a.pem') }, SIGNING_KEY_FILE: resolve('b.pem') },
      ],
      [{ TSA_URL: 'http://tsa.example/tsr' }, { TSA_URL: 'http://tsa.example/tsr' }],
      [{ CODE_WAY: 'sms' }, { CODE_WAY: 'sms' }],
      [{ CODES_AN_HOUR: '5' }, { CODES_AN_HOUR: 5 }],
      [{ CODE_TEMPLATE: 'code_1' }, { CODE_TEMPLATE: 'code_1' }],
      [{ SMS_API_URL: 'https://sms.example/' }, { SMS_API_URL: 'https://sms.example' }],
      [{ SMS_ACCOUNT_SID: 'AC1' }, { SMS_ACCOUNT_SID: 'AC1' }],
      [{ SMS_AUTH_TOKEN: 'secret' }, { SMS_AUTH_TOKEN: 'secret' }],
      [{ SMS_FROM: '+15005550006' }, { SMS_FROM: '+15005550006' }],
      [{ CONTRACT_YEARS: '15' }, { CONTRACT_YEARS: 15 }],
      [{ CHANNEL_NAME: 'acme' }, { consentChannel: 'acme' }],
      [{ CHANNEL_NAME: 'a'.repeat(40) }, { consentChannel: 'a'.repeat(40) }],
      [{ CHANNEL: 'simulator' }, { channel: 'simulator' }],
      [
        { ...WHATSAPP, WHATSAPP_API_URL: 'ftp://x', CHANNEL: 'log' },
        { channel: 'log', DOCUMENT_READER: 'isolated' },
      ],
      [{ DELIVERY: 'off' }, { delivery: false }],
      [{ MESSAGES_PER_SECOND: '1' }, { MESSAGES_PER_SECOND: 1 }],
      [{ MESSAGES_PER_SECOND: 'none' }, { MESSAGES_PER_SECOND: null }],
      [{ RECIPIENTS_PER_DAY: '2000' }, { RECIPIENTS_PER_DAY: 2_000 }],
      [{ MESSAGES_PER_PHONE: '20' }, { MESSAGES_PER_PHONE: 20 }],
      [{ REJECTIONS_PER_PHONE: '2' }, { REJECTIONS_PER_PHONE: 2 }],
      [
        { ENDPOINT_HOSTS: 'Hooks.internal, [::1]:8443' },
        { ENDPOINT_HOSTS: new Set(['hooks.internal', '[::1]:8443']) },
      ],
      [{ RETENTION_DAYS: '1825' }, { RETENTION_DAYS: 1_825 }],
      [{ DOCUMENT_STORE: 's3://documents/a' }, { DOCUMENT_STORE: 's3://documents/a' }],
      [{ DOCUMENT_STORE: 'files' }, { DOCUMENT_STORE: resolve('files') }],
      [{ DOCUMENT_MOST_MB: '100' }, { DOCUMENT_MOST_MB: 100_000_000 }],
      [{ UNDO_SECONDS: '600' }, { UNDO_SECONDS: 600 }],
      [{ SECOND_LOOK_SHARE: '0.5' }, { SECOND_LOOK_SHARE: 0.5 }],
      [{ RECONSIDERATION_DAYS: '5' }, { RECONSIDERATION_DAYS: 5 }],
      [{ REVIEW_DUE_HOURS: '72' }, { REVIEW_DUE_HOURS: 72 }],
      [{ CONVERSATION_DAYS: '180' }, { CONVERSATION_DAYS: 180 }],
      [{ DOCUMENT_DAYS: '90' }, { DOCUMENT_DAYS: 90 }],
      [{ DOCUMENT_LAYOUTS: 'layouts' }, { DOCUMENT_LAYOUTS: resolve('layouts') }],
      ...['isolated', 'exposed'].map((risk): [Record<string, string>, object] => [
        { DOCUMENT_READER: risk },
        { DOCUMENT_READER: risk },
      ]),
      [{ DOCUMENT_READING_SECONDS: '60' }, { DOCUMENT_READING_SECONDS: 60 }],
      [{ DOCUMENT_READING_SECONDS: 'none' }, { DOCUMENT_READING_SECONDS: null }],
      [{ BELVO_URL: 'https://api.belvo.com/' }, { BELVO_URL: 'https://api.belvo.com' }],
      [{ BELVO_RETURN_URL: 'https://wa.me/57' }, { BELVO_RETURN_URL: 'https://wa.me/57' }],
      [{ BELVO_SECRET_ID: 'a' }, { BELVO_SECRET_ID: 'a' }],
      [{ BELVO_SECRET_PASSWORD: 'b' }, { BELVO_SECRET_PASSWORD: 'b' }],
      [{ CLAMD: '/run/clamd.sock' }, { CLAMD: { path: '/run/clamd.sock' } }],
      [{ OPERATOR: ' Luz Peña ' }, { operator: 'Luz Peña' }],
      [{ POLICY_FILE: 'policy.json' }, { policyFile: resolve('policy.json') }],
      [{ CONTACT_WINDOWS_FILE: 'windows.json' }, { CONTACT_WINDOWS_FILE: resolve('windows.json') }],
      ...['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map(
        (level): [Record<string, string>, object] => [{ LOG_LEVEL: level }, { logLevel: level }],
      ),
    ];
    for (const [environment, expected] of accepted) {
      assert.deepEqual(readAll(environment), { ...DEFAULTS, ...expected }, JSON.stringify(environment));
    }
  });

  it('the settings of WhatsApp are read with that channel only; all but the URL and the account are required', () => {
    const whatsapp = {
      apiUrl: 'https://graph.facebook.com/v25.0',
      phoneNumberId: '106540352242922',
      accountId: null,
      accessToken: 'EAAhunter2token',
      appSecret: 'hunter2secret',
      verifyToken: 'hunter2verify',
    };
    assert.deepEqual(readAll(WHATSAPP), {
      ...DEFAULTS,
      ...{ channel: 'whatsapp', whatsapp, DOCUMENT_READER: 'isolated' },
    });
    const urls: [string, string][] = [
      ['https://example.com/', 'https://example.com'],
      ['https://example.com:8443/api/v26.0/', 'https://example.com:8443/api/v26.0'],
      ['http://127.0.0.1:8090', 'http://127.0.0.1:8090'],
      ['http://localhost:8090/v25.0', 'http://localhost:8090/v25.0'],
      ['http://[::1]:8090', 'http://[::1]:8090'],
    ];
    for (const [url, apiUrl] of urls) {
      assert.equal(readConfig({ ...WHATSAPP, WHATSAPP_API_URL: url }).whatsapp?.apiUrl, apiUrl);
    }
    assert.equal(readConfig({ ...WHATSAPP, WHATSAPP_ACCOUNT_ID: '77' }).whatsapp?.accountId, '77');
    for (const name of Object.keys(WHATSAPP).filter((name) => name !== 'CHANNEL')) {
      assert.equal(refusal({ ...WHATSAPP, [name]: ' ' }), `${name} is required with CHANNEL=whatsapp`);
    }
  });

  it('a place for backups needs a key of its own, and lies outside of what may be lost', () => {
    const account = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'hunter2' };
    const s3 = { accessKeyId: 'id', secretAccessKey: 'hunter2', region: 'us-east-1', endpoint: undefined };
    const accepted: [Record<string, string>, object][] = [
      [{}, { to: resolve('backups') }],
      [
        { BACKUP_TO: '/mnt/backups', BACKUP_KEEP: '3' },
        { to: '/mnt/backups', keep: 3 },
      ],
      [
        { BACKUP_TO: 's3://bucket/prefix', ...account },
        { to: 's3://bucket/prefix', s3 },
      ],
      [
        { ...account, AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000/' },
        { to: resolve('backups'), s3: { ...s3, region: 'eu-west-1', endpoint: 'http://127.0.0.1:9000' } },
      ],
    ];
    for (const [environment, expected] of accepted) {
      const { backup } = readConfig({ BACKUP_TO: 'backups', BACKUP_KEY: KEY, ...environment });
      assert.deepEqual(backup, { key: Buffer.alloc(32, 7), keep: 14, s3: null, ...expected });
    }
    const refused: [Record<string, string>, RegExp][] = [
      [{ BACKUP_TO: 'backups' }, /^BACKUP_KEY is required with BACKUP_TO$/],
      [{ BACKUP_TO: 'data/backups', BACKUP_KEY: KEY }, /^BACKUP_TO must lie outside of DATA_DIR/],
      [{ BACKUP_TO: 'data', BACKUP_KEY: KEY }, /^BACKUP_TO must lie outside of DATA_DIR/],
      [{ BACKUP_KEY: 'hunter2' }, /^BACKUP_KEY must hold keys of 32 random bytes/],
      [{ ...SECRETS, BACKUP_KEY: KEY }, /^BACKUP_KEY must be a key of its own/],
      [{ BACKUP_KEEP: '0' }, /^BACKUP_KEEP must be a whole number from 1 to 999$/],
      [{ AWS_ENDPOINT_URL_S3: 'hunter2' }, /^AWS_ENDPOINT_URL_S3 must begin with https/],
      [
        { ...SECRETS, CHANNEL: 'log', DATABASE_URL: 'postgres://h/d', BACKUP_TO: 'b', BACKUP_KEY: OTHER_KEY },
        /BACKUP_TO is for the embedded database: docs\/backup.md/,
      ],
    ];
    for (const [environment, pattern] of refused) assert.match(refusal(environment), pattern);
  });

  it('the configuration is frozen', () => {
    assert.ok(Object.isFrozen(readConfig({})));
  });

  it('secrets are read together, with any number of data keys; the first key seals', () => {
    const { secrets } = readConfig({ ...SECRETS, DATA_KEYS: `255:${OTHER_KEY}, 1:${KEY}` });
    assert.deepEqual([...(secrets?.dataKeys.keys() ?? [])], [255, 1]);
    assert.deepEqual(secrets?.dataKeys.get(255), Buffer.alloc(32, 200));
    assert.deepEqual(secrets?.dataKeys.get(1), Buffer.alloc(32, 7));
    assert.deepEqual(secrets?.indexKey, Buffer.alloc(32, 200));
    assert.deepEqual(secrets?.apiKeyPepper, Buffer.alloc(32, 7));
    for (const scheme of ['postgres', 'postgresql']) {
      const url = `${scheme}://u:p@h/d`;
      assert.equal(readConfig({ ...SECRETS, CHANNEL: 'log', DATABASE_URL: url }).databaseUrl, url);
    }
  });

  it('the owner of the tables is for a database of your own', () => {
    const [url, owner] = ['postgres://service@h/d', 'postgres://owner@h/d'];
    const own = { ...SECRETS, CHANNEL: 'log', DATABASE_URL: url, MIGRATE_DATABASE_URL: owner };
    const { databaseUrl, migrateDatabaseUrl } = readConfig(own);
    assert.deepEqual([databaseUrl, migrateDatabaseUrl], [url, owner]);
    assert.match(
      refusal({ MIGRATE_DATABASE_URL: owner }),
      /^MIGRATE_DATABASE_URL .*: set DATABASE_URL as well/,
    );
  });

  it('an error names the variable and its rule, without the value', () => {
    const broken: [string, RegExp, string[]][] = [
      ['PORT', /0 to 65535/, ['-1', '65536', '80x', '8080.5', '0x50', '1e3', 'http', '+81']],
      ['OPS_PORT', /0 to 65535/, ['-1', '65536', 'qqq']],
      ['METRICS_PORT', /0 to 65535/, ['-1', '65536', 'qqq']],
      ['METRICS_PARTNERS', /0 to 1000/, ['-1', '1001', 'all', '1.5', '007']],
      ['OTEL_TRACES_EXPORTER', /otlp or none/, ['zipkin', 'console']],
      ['OTEL_EXPORTER_OTLP_ENDPOINT', /http/, ['collector:4318', 'grpc://collector']],
      ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', /http/, ['collector:4318']],
      [
        'BASE_PATH',
        /path/,
        ['apiqq', 'apiqq/v1', '/a b', '/a?b', '/a#b', '/a//b', '/añb', '/%41', 'http://hqq/x'],
      ],
      ['DATABASE_URL', /postgres:\/\//, ['mysql://hqq/d', 'hqq', 'http://hqq', '//hqq/d', 'host=hqq']],
      ['MIGRATE_DATABASE_URL', /DATABASE_URL/, ['mysql://hqq/d']],
      ['CHANNEL_NAME', /lower-case/, ['Acme', '1acme', 'a-cme', 'acmé', '_acme', 'ac me', 'a'.repeat(41)]],
      ['CHANNEL', /one of: simulator, log, whatsapp/, ['Simulator', 'WhatsApp', 'pigeon']],
      [
        'WHATSAPP_API_URL',
        /https URL/,
        [
          'graph.example.com',
          '/v25.0',
          'http://graph.example.com/v25.0',
          'http://127.0.0.1.example.com',
          'http://localhost.example.com',
          'ftp://127.0.0.1/v25.0',
          'https://user@example.com/',
          'https://:word@example.com/',
          'https://example.com/?access_token=x',
          'https://example.com/#x',
        ],
      ],
      ['WHATSAPP_ACCOUNT_ID', /digits only/, ['77x', '../1', '1/2']],
      ['WHATSAPP_PHONE_NUMBER_ID', /digits only/, ['+573001234567', '12 34', '../1065', '1065/x']],
      ...['WHATSAPP_ACCESS_TOKEN', 'WHATSAPP_APP_SECRET', 'WHATSAPP_VERIFY_TOKEN'].map(
        (name): [string, RegExp, string[]] => [
          name,
          /printable ASCII/,
          ['two words', 'contraseña', 'line\r\nHost: x'],
        ],
      ),
      ['DELIVERY', /one of: on, off/, ['true', 'ON']],
      ['MESSAGES_PER_SECOND', /whole number/, ['0', '-1', '1.5', 'many', '1e3', '9999999999']],
      ['RECIPIENTS_PER_DAY', /whole number/, ['0', 'unlimited']],
      ['MESSAGES_PER_PHONE', /from 1 to 20/, ['0', 'none', '21', '1.5']],
      ['REJECTIONS_PER_PHONE', /from 1 to 20/, ['0', 'none', '21']],
      ['ENDPOINT_HOSTS', /hosts joined by commas/, ['https://a', 'a,,b', 'a:0']],
      ['RETENTION_DAYS', /whole number/, ['0', '1.5', '5y']],
      ['DOCUMENT_MOST_MB', /from 1 to 100/, ['0', '101', '5k']],
      ['UNDO_SECONDS', /from 10 to 600/, ['9', '601', '1.5']],
      ['SECOND_LOOK_SHARE', /from 0 to 1/, ['-1', '1.1', '0,5', '1e-1', 'x']],
      ['RECONSIDERATION_DAYS', /working days from 1 to 90/, ['0', '91', '-1', '1.5', 'x']],
      ['DATA_REQUEST_DAYS', /working days from 1 to 90/, ['0', '91', '-1', '1.5', 'x']],
      ['REVIEW_DUE_HOURS', /from 1 to 9999/, ['0', '1.5', '10000']],
      ['CONVERSATION_DAYS', /30 or more/, ['29']],
      ['DOCUMENT_DAYS', /whole number/, ['0', '1.5']],
      ['DOCUMENT_READER', /one of: isolated, exposed/, ['off', 'demonstration', 'Isolated']],
      ['DOCUMENT_READING_SECONDS', /whole number/, ['0', '1.5']],
      ['TSA_URL', /must begin with http/, ['tsa.example', 'ftp://tsa.example']],
      ['CODE_WAY', /must be one of: sms, channel, simulator, none/, ['email']],
      ['CODES_AN_HOUR', /whole number from 1 to 999999/, ['0', '1e3', '1000000']],
      ['CODE_TEMPLATE', /must be a template's name/, ['Code 1']],
      ['SMS_API_URL', /must begin with http/, ['http://sms.example', 'sms']],
      ['SMS_ACCOUNT_SID', /letters and digits/, ['AC 1', 'AC/../x']],
      ['CONTRACT_YEARS', /years from 5 to 99/, ['4', '100', 'ten']],
      ['CONSOLE_PORT', /a port number/, ['70000', 'http', '-1']],
      ['PORTAL_PORT', /a port number/, ['70000', 'http', '-1']],
      ['PORTAL_TRUSTED_PROXIES', /must be addresses or networks/, ['proxy.example', '*']],
      ['PORTAL_URL', /must be an origin/, ['front.test', 'http://front.test', 'https://desk.example/path']],
      [
        'CONSOLE_TRUSTED_PROXIES',
        /must be addresses or networks/,
        ['proxy.example', '10.0.0.0/33', '10.0.0.1 10.0.0.2', 'true', '1', '*', '::/200'],
      ],
      [
        'CONSOLE_URL',
        /must be an origin/,
        ['front.test', 'http://front.test', 'https://desk.example/path', 'https://u@desk.example'],
      ],
      [
        'OIDC_ISSUER',
        /must be the URL of an issuer/,
        ['login.test', 'http://login.test', 'https://login.test/?a=b', 'https://u@login.test'],
      ],
      [
        'OIDC_SECOND_FACTOR',
        /claims joined by commas/,
        ['otp', 'otp:', 'amr=otp', 'amr:otp acr:gold', 'sub:ana'],
      ],
      ['BELVO_URL', /must begin with https/, ['http://a', 'belvo']],
      ['BELVO_RETURN_URL', /must begin with https/, ['http://a', 'app://back']],
      ['BELVO_SECRET_ID', /printable ASCII/, ['a b']],
      ['CLAMD', /host:port, or the absolute path/, ['clamd', 'clamd:0']],
      ['OPERATOR', /one line of 1 to 100 characters/, ['a\u0007b', 'x'.repeat(101)]],
      ['LOG_LEVEL', /one of: .*info/, ['INFO', 'verbose', '30']],
      [
        'DATA_KEYS',
        /ID:KEY/,
        [KEY, `0:${KEY}`, `256:${KEY}`, `1:${KEY},1:${OTHER_KEY}`, `1:${KEY},`, `x:${KEY}`, `-1:${KEY}`],
      ],
      [
        'DATA_KEYS',
        /32 random bytes in base64/,
        ['1:c2hvcnQ=', `1:${KEY.slice(0, -1)}`, `1:${KEY}=`, `1:${'*'.repeat(43)}=`],
      ],
      [
        'INDEX_KEY',
        /32 random bytes in base64/,
        ['c2hvcnQ=', KEY.slice(0, -1), `${KEY}A`, Buffer.alloc(33).toString('base64'), 'f'.repeat(64)],
      ],
      ['API_KEY_PEPPER', /32 random bytes in base64/, ['c2hvcnQ=', Buffer.alloc(31, 9).toString('base64')]],
    ];
    for (const [variable, rule, values] of broken) {
      for (const value of values) {
        const text = refusal({ ...SECRETS, ...WHATSAPP, [variable]: value });
        assert.ok(text.startsWith(`${variable} `), `${variable}=${value}: ${text}`);
        assert.match(text, rule);
        // A short value may be part of the rule by chance.
        if (value.length > 3) assert.ok(!text.includes(value), text);
      }
    }
  });

  it('a process that is traced gets no value that the SDK would replace without a word', () => {
    const traced = { OTEL_TRACES_EXPORTER: 'otlp' };
    const broken: [string, string, RegExp][] = [
      ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /http\/protobuf/],
      ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/json', /http\/protobuf/],
      ['OTEL_TRACES_SAMPLER', 'sometimes', /parentbased_traceidratio/],
      ['OTEL_TRACES_SAMPLER_ARG', '2', /from 0 to 1/],
      ['OTEL_TRACES_SAMPLER_ARG', 'half', /from 0 to 1/],
    ];
    for (const [name, value, rule] of broken) {
      assert.throws(() => readConfig({ ...traced, [name]: value }), rule);
      assert.doesNotThrow(() => readConfig({ [name]: value }));
    }
  });

  it('no error shows a value of any variable', () => {
    const url = 'postgres://user:hunter2hunter2@host/db';
    const shown: [string, Record<string, string>][] = [
      ['PORT', { ...SECRETS, CHANNEL: 'log', DATABASE_URL: url, PORT: 'hunter2port' }],
      ['DATABASE_URL', { ...SECRETS, CHANNEL: 'log', DATABASE_URL: url.replace('postgres', 'pg') }],
      ['DATA_KEYS', { DATABASE_URL: url, CHANNEL: 'log' }],
      ['DATA_KEYS', { INDEX_KEY: KEY, API_KEY_PEPPER: KEY }],
      ['INDEX_KEY', { DATA_KEYS: SECRETS.DATA_KEYS, API_KEY_PEPPER: KEY }],
      ['API_KEY_PEPPER', { ...SECRETS, CHANNEL: 'log', API_KEY_PEPPER: '', DATABASE_URL: url }],
      ['API_KEY_PEPPER', { ...SECRETS, API_KEY_PEPPER: `${KEY}hunter2` }],
      ['WHATSAPP_APP_SECRET', { ...SECRETS, ...WHATSAPP, WHATSAPP_APP_SECRET: 'hunter2 hunter2' }],
      ['WHATSAPP_VERIFY_TOKEN', { ...SECRETS, ...WHATSAPP, WHATSAPP_VERIFY_TOKEN: '' }],
      ['LOG_LEVEL', { ...SECRETS, ...WHATSAPP, LOG_LEVEL: 'loud' }],
    ];
    for (const [variable, environment] of shown) {
      const text = refusal(environment);
      assert.ok(text.startsWith(`${variable} `), text);
      for (const secret of ['hunter2', KEY, OTHER_KEY]) assert.ok(!text.includes(secret), text);
    }
  });

  it('the operator’s own database needs all secrets; the embedded server needs all or none', () => {
    const own = { DATABASE_URL: 'postgres://h/d', CHANNEL: 'log' };
    assert.match(refusal(own), /^DATA_KEYS is required with DATABASE_URL/);
    for (const name of Object.keys(SECRETS)) {
      const others = Object.fromEntries(Object.entries(SECRETS).filter(([key]) => key !== name));
      assert.ok(refusal(others).startsWith(`${name} is required`));
      assert.ok(refusal({ ...others, ...own }).startsWith(`${name} is required`));
    }
  });

  it('a secret may come from a file; the space around its text is left out', async () => {
    const all = { ...SECRETS, ...WHATSAPP, DATABASE_URL: 'postgres://u:p@h/d' };
    const names = Object.keys(all).filter((name) => !/^(CHANNEL|WHATSAPP_PHONE_NUMBER_ID)$/.test(name));
    const files = Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [name, await fileOf(`${all[name as keyof typeof all]}\n`)] as const),
      ),
    );
    const others = Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
    const named = Object.fromEntries(names.map((name) => [`${name}_FILE`, files[name]!]));
    const read = (variables: Record<string, string>) => ({ ...readConfig(variables), setting: null });
    assert.deepEqual(read({ ...others, ...named }), read(all));
  });

  it('an error names the variable of a file that cannot be used, and never the path or the text', async () => {
    const file = await fileOf(`1:${KEY}\n`);
    const withMode = async (mode: number) => {
      const path = await fileOf(KEY);
      await chmod(path, mode);
      return path;
    };
    const wrong: [Record<string, string>, string][] = [
      [{ DATA_KEYS_FILE: file }, 'DATA_KEYS_FILE and DATA_KEYS are both set: set one of them'],
      [
        { DATA_KEYS: '', DATA_KEYS_FILE: `${file}.no` },
        'DATA_KEYS_FILE names a file that cannot be read (ENOENT)',
      ],
      [
        { DATA_KEYS: ' ', DATA_KEYS_FILE: tmpdir() },
        'DATA_KEYS_FILE names a file that cannot be read (EISDIR)',
      ],
      [{ INDEX_KEY: '', INDEX_KEY_FILE: await fileOf(' \n') }, 'INDEX_KEY_FILE names an empty file'],
      ...(await Promise.all(
        [0o640, 0o604, 0o610, 0o602].map(
          async (mode): Promise<[Record<string, string>, string]> => [
            { INDEX_KEY: '', INDEX_KEY_FILE: await withMode(mode) },
            'INDEX_KEY_FILE names a file that is open to other users: make it yours alone (chmod 600)',
          ],
        ),
      )),
      [
        { INDEX_KEY: '', INDEX_KEY_FILE: KEY, DATA_KEYS_FILE: file },
        'DATA_KEYS_FILE and DATA_KEYS are both set: set one of them\nINDEX_KEY_FILE names a file that cannot be read (ENOENT)',
      ],
    ];
    for (const [variables, text] of wrong) assert.equal(refusal({ ...SECRETS, ...variables }), text);
    for (const mode of [0o400, 0o600, 0o700])
      readConfig({ ...SECRETS, INDEX_KEY: '', INDEX_KEY_FILE: await withMode(mode) });
    assert.match(
      refusal({ ...SECRETS, INDEX_KEY: '', INDEX_KEY_FILE: file }),
      /^INDEX_KEY must hold keys of 32/,
    );
  });

  it('a file of variables with a secret has to be its owner’s alone; without one it may be open', async () => {
    const path = await fileOf(`PORT=8080\nINDEX_KEY=${KEY}\n`);
    refuseOpenEnvFile(path);
    await chmod(path, 0o644);
    assert.throws(() => refuseOpenEnvFile(path), {
      message: '.env has INDEX_KEY and is open to other users: make it yours alone (chmod 600)',
    });
    await writeFile(path, 'PORT=8080\n# INDEX_KEY=x\nINDEX_KEY=\n');
    refuseOpenEnvFile(path);
    refuseOpenEnvFile(`${path}.no`);
  });

  it('the operator’s own database needs CHANNEL, with any value', () => {
    const own = { ...SECRETS, DATABASE_URL: 'postgres://h/d' };
    const rule = 'CHANNEL is required with DATABASE_URL, one of: simulator, log, whatsapp';
    for (const channel of [undefined, '', '  ']) {
      assert.equal(refusal({ ...own, ...(channel === undefined ? {} : { CHANNEL: channel }) }), rule);
    }
    for (const channel of ['simulator', 'log', 'whatsapp']) {
      assert.equal(readConfig({ ...WHATSAPP, ...own, CHANNEL: channel }).channel, channel);
    }
  });

  it('the error names every missing or wrong variable, a line each', () => {
    const lines = (environment: Record<string, string>) => refusal(environment).split('\n');
    assert.deepEqual(lines({ DATABASE_URL: 'postgres://h/d' }).map(nameOf).sort(), [
      'API_KEY_PEPPER',
      'CHANNEL',
      'DATA_KEYS',
      'INDEX_KEY',
    ]);
    assert.deepEqual(
      lines({ CHANNEL: 'whatsapp', PORT: 'x', INDEX_KEY: 'x', LOG_LEVEL: 'x' }).map(nameOf).sort(),
      [
        'API_KEY_PEPPER',
        'DATA_KEYS',
        'INDEX_KEY',
        'LOG_LEVEL',
        'PORT',
        'WHATSAPP_ACCESS_TOKEN',
        'WHATSAPP_APP_SECRET',
        'WHATSAPP_PHONE_NUMBER_ID',
        'WHATSAPP_VERIFY_TOKEN',
      ],
    );
    // Of any two wrong variables, the error names both and no other.
    const wrong: Record<string, string> = {
      DATABASE_URL: 'mysql://h/d',
      DATA_KEYS: 'x',
      INDEX_KEY: 'x',
      API_KEY_PEPPER: 'x',
      CHANNEL: 'x',
      PORT: 'x',
      OPS_PORT: 'x',
      BASE_PATH: 'x y',
      CHANNEL_NAME: 'X',
      DELIVERY: 'x',
      MESSAGES_PER_SECOND: 'x',
      RECIPIENTS_PER_DAY: 'x',
      LOG_LEVEL: 'x',
    };
    for (const one of Object.keys(wrong)) {
      for (const other of Object.keys(wrong).filter((name) => name !== one)) {
        const environment = { ...SECRETS, CHANNEL: 'log', [one]: wrong[one]!, [other]: wrong[other]! };
        assert.deepEqual(lines(environment).map(nameOf).sort(), [one, other].sort());
      }
    }
  });
});

function nameOf(line: string): string {
  return line.split(' ')[0] as string;
}
