/** Everything that a soak runs on: PostgreSQL, a service, two workers, the channel's stand-in, and partners. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config/config.ts';
import { setPartnerEndpoint } from '../../src/events/push/uses/endpoints.ts';
import { issueKey } from '../../src/partners/uses/keys.ts';
import { addPartner } from '../../src/partners/uses/partners.ts';
import type { Secrets } from '../../src/seal/vault.ts';
import { Vault } from '../../src/seal/vault.ts';
import { addFaults, type ChannelFaults } from '../support/channel-faults.ts';
import { lastingPort } from '../support/free-port.ts';
import { Program } from '../support/program.ts';
import { startWhatsAppApi, type WhatsAppApi } from '../support/whatsapp-api.ts';
import type { Partner } from './ledger.ts';
import { SoakEndpoint } from './pushes.ts';
import { SoakStore } from './store.ts';

export interface Stage {
  readonly folder: string;
  readonly store: SoakStore;
  readonly vault: Vault;
  readonly service: Program;
  readonly workers: readonly Program[];
  /** A third worker, for faults that leave a worker running. */
  readonly stranger: Program;
  readonly api: WhatsAppApi;
  readonly channel: ChannelFaults;
  readonly endpoint: SoakEndpoint;
  readonly url: string;
  readonly opsUrl: string;
  addPartner(name: string, cap: number | null, hasEndpoint: boolean): Promise<Partner>;
  /** Ends everything; keeps the folder with the logs if `keepFolder` is true. */
  stop(keepFolder: boolean): Promise<void>;
}

export async function startStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-soak-'));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const [store, api] = await Promise.all([SoakStore.start(dataDir), startWhatsAppApi()]);
  const endpoint = new SoakEndpoint();
  const endpointHost = await endpoint.listen();
  const [port, opsPort] = [await lastingPort(), await lastingPort()];
  const [url, opsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${opsPort}`];
  const secret = () => randomBytes(32).toString('base64');
  const variables = {
    ...api.environment,
    DATABASE_URL: store.url,
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    HOST: '127.0.0.1',
    OPS_HOST: '127.0.0.1',
    PORT: String(port),
    OPS_PORT: String(opsPort),
    BASE_PATH: '',
    CHANNEL_NAME: '',
    POLICY_FILE: '',
    CONTACT_WINDOWS_FILE: '',
    DELIVERY: 'off',
    MESSAGES_PER_SECOND: 'none',
    RECIPIENTS_PER_DAY: 'none',
    LOG_LEVEL: 'info',
    ENDPOINT_HOSTS: endpointHost,
  };
  const program = (role: 'serve' | 'worker', name: string) =>
    new Program(role, variables, join(folder, `${name}.log`));
  const service = program('serve', 'service');
  const workers = [program('worker', 'worker-1'), program('worker', 'worker-2')];
  const stranger = program('worker', 'stranger');
  const programs = [service, ...workers, stranger];
  // A soak that fails or is stopped leaves no process behind.
  process.on('exit', () => {
    for (const { pid } of programs) if (pid !== null) process.kill(pid, 'SIGKILL');
    store.abandon();
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
  await service.start();
  await Promise.all(workers.map((worker) => worker.start()));
  const vault = new Vault(readConfig(variables).secrets as Secrets);
  const operator = { database: store.database, vault, actor: 'soak' };
  const silent = { share: 0.1, silent: 3 };
  return {
    folder,
    store,
    vault,
    service,
    workers,
    stranger,
    api,
    channel: addFaults([api], `${url}/webhooks/whatsapp`, silent),
    endpoint,
    url,
    opsUrl,
    async addPartner(name, cap, hasEndpoint) {
      const { id } = await addPartner(operator, { name, country: 'MX' });
      if (hasEndpoint) {
        const url = `http://${endpointHost}/${id}`;
        await setPartnerEndpoint(operator, id, { url, hosts: new Set([endpointHost]) });
      }
      const settings = { environment: null, language: 'en', dailyCap: cap, brand: {} } as const;
      return { id, name, apiKey: (await issueKey(operator, id, settings)).apiKey, cap };
    },
    async stop(keepFolder) {
      await Promise.all(programs.map((one) => one.kill()));
      await api.close();
      endpoint.close();
      await store.stop();
      if (!keepFolder) rmSync(folder, { recursive: true, force: true });
    },
  };
}
