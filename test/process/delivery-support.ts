/** A real delivery: a service, `worker` processes on its database, and stand-ins for the API. */
import { after } from 'node:test';
import { TEST_SECRETS } from '../support/database.ts';
import { registerApplicants } from '../support/delivery-run.ts';
import { type TestService, testService } from '../support/service.ts';
import { type AcceptedMessage, startWhatsAppApi, type WhatsAppApi } from '../support/whatsapp-api.ts';
import { killHard, run, until, type Variables } from './support.ts';

export interface WorkerProcess {
  /** Sends SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface Delivery {
  readonly service: TestService;
  readonly webhookUrl: string;
  readonly apis: readonly [WhatsAppApi, ...WhatsAppApi[]];
  /** Registers applications, each with a message that is due. Resolves to their ids. */
  register(count: number): Promise<number[]>;
  /** Starts a worker. Without other variables it sends to the first stand-in. Resolves when the worker works. */
  startWorker(variables?: Variables): Promise<WorkerProcess>;
  /** Every message of the application that the stand-ins took. */
  takenOf(id: number): AcceptedMessage[];
  /** The statuses of these messages with their reasons, in order. */
  statesOf(ids: readonly number[]): Promise<string[]>;
}

/** Starts everything but the workers. It ends with the calling test. */
export async function startDelivery(standIns = 1): Promise<Delivery> {
  const [first, ...others] = await Promise.all(Array.from({ length: standIns }, () => startWhatsAppApi()));
  const apis = [first as WhatsAppApi, ...others] as const;
  after(() => Promise.all(apis.map((api) => api.close())));
  const service = await testService(apis[0].environment);
  const { apiKey } = await service.addPartner();
  return {
    service,
    webhookUrl: `${service.url}/webhooks/whatsapp`,
    apis,
    register: (count) => registerApplicants(service.url, apiKey, count),
    startWorker: (variables = {}) =>
      startWorker({ DATABASE_URL: service.databaseUrl, ...apis[0].environment, ...variables }),
    takenOf: (id) =>
      apis.flatMap(({ accepted }) =>
        [...accepted].filter(([callback]) => callback.startsWith(`${id}.`)).flatMap(([, taken]) => taken),
      ),
    async statesOf(ids) {
      const { rows } = await service.database.query<{ state: string }>(
        `SELECT concat_ws(' ', status, reason) AS state FROM messages WHERE application_id = ANY ($1)
        ORDER BY application_id`,
        [ids],
      );
      return rows.map(({ state }) => state);
    },
  };
}

async function startWorker(variables: Variables): Promise<WorkerProcess> {
  const { dataKeys, indexKey, apiKeyPepper } = TEST_SECRETS;
  const running = run(process.execPath, ['src/main.ts', 'worker'], {
    DATA_KEYS: [...dataKeys].map(([id, key]) => `${id}:${key.toString('base64')}`).join(','),
    INDEX_KEY: indexKey.toString('base64'),
    API_KEY_PEPPER: apiKeyPepper.toString('base64'),
    CONTACT_WINDOWS_FILE: '',
    MESSAGES_PER_SECOND: 'none',
    RECIPIENTS_PER_DAY: 'none',
    ...variables,
  });
  await until('the worker to work', () => running.out.includes('worker started'));
  return { kill: () => killHard(running.pid) };
}
