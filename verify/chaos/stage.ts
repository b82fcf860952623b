/** Everything that a run runs on: the store, two services, three workers, the channel's stand-in, and partners. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import type { OperatorContext } from '../../src/program/operations/operator-context.ts';
import { type Secrets, Vault } from '../../src/seal/vault.ts';
import { setPartnerEndpoint } from '../../src/subjects/events/push/uses/endpoints.ts';
import { addOperator } from '../../src/subjects/operators/uses/manage.ts';
import { issueKey } from '../../src/subjects/partners/uses/keys.ts';
import { addPartner } from '../../src/subjects/partners/uses/partners.ts';
import { addFaults, type ChannelFaults } from '../../test/support/channel-faults.ts';
import { lastingPort } from '../../test/support/free-port.ts';
import { Middleman } from '../../test/support/middleman.ts';
import { openWithLimits } from '../../test/support/open-patiently.ts';
import { Program, type Variables } from '../../test/support/program.ts';
import { testPatience } from '../../test/support/start-patiently.ts';
import { startWhatsAppApi, type WhatsAppApi } from '../../test/support/whatsapp-api.ts';
import type { DeskOperator } from '../history/history.ts';
import { Endpoint } from './clients/endpoint.ts';
import type { PartnerKey } from './clients/world.ts';
import { Store, type StorePlan } from './store/store.ts';

const SERVICES = 2;
const WORKERS = 2;
/** Operators of the desk, and which of them have the authority for every amount. */
const DESK = [true, true, false, false];
const AUTHORITY = new Map([['MXN', 10n ** 14n]]);
/** The share of sends that fail, and how many sends wait in vain for an answer. */
const CHANNEL_FAULTS = { share: 0.1, silent: 3 };
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const ALWAYS = Object.fromEntries(DAYS.map((day) => [day, ['00:00-24:00']]));
const WINDOWS = {
  // A run has several messages to a phone within minutes.
  CO: { zones: ['America/Bogota'], hours: ALWAYS, messages_a_day: null },
  MX: { zones: ['America/Mexico_City'], hours: ALWAYS },
};

/** A program and where its metrics are. */
export interface Process {
  readonly name: string;
  readonly program: Program;
  /** Of the partners' listener; a worker has none. */
  readonly port: number;
  readonly metricsUrl: string;
  /** Where it tells of its health; null for a worker. */
  readonly opsUrl: string | null;
}

export interface Stage {
  readonly folder: string;
  readonly store: Store;
  readonly vault: Vault;
  readonly services: readonly Process[];
  readonly workers: readonly Process[];
  /** One more worker, for faults that leave a worker running. */
  readonly stranger: Process;
  /** Between the clients and each service. */
  readonly ways: readonly Middleman[];
  /** What the clients call. */
  readonly urls: readonly string[];
  readonly api: WhatsAppApi;
  readonly channel: ChannelFaults;
  readonly endpoint: Endpoint;
  /** An operator, whose statements go the way of the services' statements. */
  readonly operator: OperatorContext;
  readonly deskOperators: readonly DeskOperator[];
  addPartner(name: string, cap: number | null, hasEndpoint: boolean): Promise<PartnerKey>;
  /** Ends everything; keeps the folder with the logs if `keepFolder` is true. */
  stop(keepFolder: boolean): Promise<void>;
}

export async function startStage(plan: StorePlan): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-chaos-'));
  // PostgreSQL runs as another user than root.
  chmodSync(folder, 0o755);
  const leave: (() => void)[] = [];
  leaveNothing(leave);
  const store = await Store.start(folder, plan, leave);
  const api = await startWhatsAppApi();
  const endpoint = new Endpoint();
  const endpointHost = await endpoint.listen();
  const windows = join(folder, 'contact-windows.json');
  writeFileSync(windows, JSON.stringify(WINDOWS));
  const variables = {
    ...api.environment,
    ...variablesOf(store.url, windows),
    ENDPOINT_HOSTS: endpointHost,
  };
  const make = (role: 'serve' | 'worker', name: string) => makeProcess(folder, role, name, variables);
  const services = await Promise.all(
    Array.from({ length: SERVICES }, (_, index) => make('serve', `service-${index + 1}`)),
  );
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, (_, index) => make('worker', `worker-${index + 1}`)),
  );
  const stranger = await make('worker', 'worker-3');
  const all = [...services, ...workers, stranger];
  leave.push(() => {
    for (const { program } of all) if (program.pid !== null) process.kill(program.pid, 'SIGKILL');
  });
  // One after the other: the first one's secrets are remembered.
  for (const { program } of services) await program.start();
  await Promise.all(workers.map(({ program }) => program.start()));
  const ways = await Promise.all(services.map(({ port }) => wayTo(port)));
  const urls = ways.map(({ port }) => `http://127.0.0.1:${port}`);
  const vault = new Vault(readConfig(variables).secrets as Secrets);
  const database = openWithLimits(store.url, DESK.length + 1);
  const operator = { database, vault, clock: machineClock, actor: 'chaos' };
  return {
    ...{ folder, store, vault, services, workers, stranger, ways, urls, api, endpoint, operator },
    channel: addFaults([api], `${urls[0]}/webhooks/whatsapp`, CHANNEL_FAULTS),
    deskOperators: await addDesk(operator),
    addPartner: (name, cap, hasEndpoint) =>
      partnerOf(operator, { name, cap }, hasEndpoint ? endpointHost : null),
    async stop(keepFolder) {
      await Promise.all(all.map(({ program }) => program.kill()));
      await stopRest({ ways, database, api, endpoint, store });
      if (!keepFolder) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** A run that fails or is stopped leaves no process behind, and no disk. */
function leaveNothing(leave: readonly (() => void)[]): void {
  process.on('exit', () => {
    for (const one of leave) one();
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
}

function variablesOf(databaseUrl: string, windows: string): Variables {
  const secret = () => randomBytes(32).toString('base64');
  return {
    DATABASE_URL: databaseUrl,
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    HOST: '127.0.0.1',
    OPS_HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    BASE_PATH: '',
    CHANNEL_NAME: '',
    POLICY_FILE: '',
    CONTACT_WINDOWS_FILE: windows,
    DELIVERY: 'off',
    MESSAGES_PER_SECOND: 'none',
    RECIPIENTS_PER_DAY: 'none',
    LOG_LEVEL: 'info',
  };
}

async function makeProcess(folder: string, role: 'serve' | 'worker', name: string, variables: Variables) {
  const [port, opsPort, metricsPort] = [await lastingPort(), await lastingPort(), await lastingPort()];
  const own = { PORT: String(port), OPS_PORT: String(opsPort), METRICS_PORT: String(metricsPort) };
  return {
    ...{ name, port },
    program: new Program(role, { ...variables, ...own }, join(folder, `${name}.log`)),
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    opsUrl: role === 'serve' ? `http://127.0.0.1:${opsPort}` : null,
  };
}

async function wayTo(port: number): Promise<Middleman> {
  const way = new Middleman({ host: '127.0.0.1', port }, 'POST /PRO');
  await way.start();
  return way;
}

async function addDesk(context: OperatorContext): Promise<DeskOperator[]> {
  const operators: DeskOperator[] = [];
  for (const [place, hasAuthority] of DESK.entries()) {
    const authority = hasAuthority ? AUTHORITY : new Map<string, bigint>();
    const account = { login: `desk${place}`, role: 'reviewer', authority } as const;
    const { operator } = await testPatience().run(() => addOperator(context, account));
    operators.push({ id: operator.id, hasAuthority });
  }
  return operators;
}

async function partnerOf(
  operator: OperatorContext,
  { name, cap }: { name: string; cap: number | null },
  endpointHost: string | null,
): Promise<PartnerKey> {
  const { id } = await addPartner(operator, { name, country: 'MX' });
  if (endpointHost !== null) {
    const url = `http://${endpointHost}/${id}`;
    await setPartnerEndpoint(operator, id, { url, hosts: new Set([endpointHost]) });
  }
  const settings = { environment: null, language: 'en', dailyCap: cap, brand: {} } as const;
  return { id, name, apiKey: (await issueKey(operator, id, settings)).apiKey, cap };
}

async function stopRest(rest: {
  ways: readonly Middleman[];
  database: Database;
  api: WhatsAppApi;
  endpoint: Endpoint;
  store: Store;
}): Promise<void> {
  for (const way of rest.ways) await way.stop();
  await rest.database.end();
  await rest.api.close();
  rest.endpoint.close();
  await rest.store.stop();
}
