/** What a run of scripted applicants runs on: PostgreSQL, services, the channel, the second phones, and two keys. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config/config.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { OperatorContext } from '../../src/program/operations/operator-context.ts';
import type { Secrets } from '../../src/seal/vault.ts';
import { Vault } from '../../src/seal/vault.ts';
import { issueKey } from '../../src/subjects/partners/uses/keys.ts';
import { addPartner } from '../../src/subjects/partners/uses/partners.ts';
import { DEMO_IDENTITY_FILE, demoIdentity } from '../../src/subjects/signing/pdf/demo-identity.ts';
import { lastingPort } from '../../test/support/free-port.ts';
import { Program, type Variables } from '../../test/support/program.ts';
import type { Random } from '../../test/support/random.ts';
import { TERMS } from '../../test/support/terms.ts';
import { startWhatsAppApi, type WhatsAppApi } from '../../test/support/whatsapp-api.ts';
import type { Person } from './person.ts';
import { Postgres } from './postgres.ts';
import type { Script } from './scripts.ts';
import { type SecondPhones, startSecondPhones } from './second-phone.ts';

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const WINDOWS = {
  CO: {
    zones: ['America/Bogota'],
    hours: Object.fromEntries(DAYS.map((day) => [day, ['00:00-24:00']])),
    // A run has several messages to a phone within minutes.
    messages_a_day: null,
  },
};
const FLOWS = {
  quick: { steps: { earnings: false, debts: false } },
  papers: { steps: { debts: false } },
  full: {},
} as const satisfies Record<Script['flow'], object>;

export interface Stage {
  readonly folder: string;
  readonly postgres: Postgres;
  readonly vault: Vault;
  readonly programs: readonly Program[];
  /** Of the services, without a path. */
  readonly urls: readonly string[];
  /** Of the consoles of the services. */
  readonly consoles: readonly string[];
  readonly api: WhatsAppApi;
  readonly keys: Readonly<Record<Script['flow'], string>>;
  readonly documents: string;
  /** Ends everything; keeps the folder with the logs where `keepFolder` is true. */
  stop(keepFolder: boolean): Promise<void>;
}

export async function startStage(
  services: number,
  persons: ReadonlyMap<string, Person>,
  random: Random,
  faults: number,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-scripted-'));
  // PostgreSQL runs as another user than root.
  chmodSync(folder, 0o755);
  const leave: (() => void)[] = [];
  process.once('exit', () => {
    for (const one of leave) one();
  });
  const postgres = await Postgres.start(folder);
  leave.push(() => postgres.abandon());
  const api = await startWhatsAppApi();
  const second = await startSecondPhones(persons, random, faults);
  const variables = {
    ...api.environment,
    ...second.environment,
    ...(await variablesOf(folder, postgres.url)),
  };
  const ports = await Promise.all(Array.from({ length: services }, lastingPort));
  const consolePorts = await Promise.all(Array.from({ length: services }, lastingPort));
  const programs: Program[] = [];
  for (const [index, port] of ports.entries()) {
    const own = {
      ...{ PORT: `${port}`, OPS_PORT: `${await lastingPort()}` },
      CONSOLE_PORT: `${consolePorts[index]}`,
    };
    programs.push(new Program('serve', { ...variables, ...own }, join(folder, `service-${index + 1}.log`)));
  }
  leave.push(() => {
    for (const { pid } of programs) if (pid !== null) process.kill(pid, 'SIGKILL');
  });
  // One after the other: the first one's secrets are remembered.
  for (const program of programs) await program.start();
  const vault = new Vault(readConfig(variables).secrets as Secrets);
  return {
    ...{ folder, postgres, vault, programs, api },
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    consoles: consolePorts.map((port) => `http://localhost:${port}`),
    keys: await keysOf({ database: postgres.database, vault, clock: machineClock, actor: 'scripted' }),
    documents: variables.DOCUMENT_STORE!,
    async stop(keepFolder) {
      await stopAll(programs, api, second, postgres);
      if (!keepFolder) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

async function stopAll(
  programs: readonly Program[],
  api: WhatsAppApi,
  second: SecondPhones,
  postgres: Postgres,
): Promise<void> {
  await Promise.all(programs.map((program) => program.kill()));
  await api.close();
  await second.close();
  await postgres.stop();
}

async function variablesOf(folder: string, databaseUrl: string): Promise<Variables> {
  const secret = () => randomBytes(32).toString('base64');
  const file = (name: string, content: object) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  await demoIdentity(folder, machineClock);
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(folder, 'data'),
    DOCUMENT_STORE: join(folder, 'documents'),
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    TERMS_FILE: file('terms.json', TERMS),
    CODES_AN_HOUR: '999999',
    CONTACT_WINDOWS_FILE: file('contact-windows.json', WINDOWS),
    SIGNING_CERTIFICATE_FILE: join(folder, DEMO_IDENTITY_FILE),
    SIGNING_KEY_FILE: join(folder, DEMO_IDENTITY_FILE),
    HOST: '127.0.0.1',
    OPS_HOST: '127.0.0.1',
    BASE_PATH: '',
    CHANNEL_NAME: '',
    POLICY_FILE: '',
    TSA_URL: '',
    CLAMD: '',
    DELIVERY: 'on',
    MESSAGES_PER_SECOND: 'none',
    RECIPIENTS_PER_DAY: 'none',
    LOG_LEVEL: 'info',
  };
}

/** A partner for each flow: so several feeds have events. */
async function keysOf(operator: OperatorContext): Promise<Stage['keys']> {
  const keyOf = async (flow: Script['flow']) => {
    const { id } = await addPartner(operator, { name: `Partner ${flow}`, country: 'CO' });
    const brand = { conversation: FLOWS[flow] };
    const settings = { environment: null, language: 'en', dailyCap: null, brand } as const;
    return (await issueKey(operator, toPartnerId(id), settings)).apiKey;
  };
  return { quick: await keyOf('quick'), papers: await keyOf('papers'), full: await keyOf('full') };
}
