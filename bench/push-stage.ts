/** What `bench:push` works on: a service, workers that push, and endpoints in this process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PartnerId, toPartnerId } from '../src/domain/partner/credential.ts';
import { machineClock } from '../src/ground/base/clock.ts';
import { type Database, inTransaction } from '../src/ground/postgres/database.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { eventNumberOf } from '../src/seal/event-ids.ts';
import { Vault } from '../src/seal/vault.ts';
import { readDataKeys, readKey } from '../src/seal/written-keys.ts';
import { makeSigningSecret } from '../src/subjects/events/push/http/sign.ts';
import { claimPushes, MOST_UNDERWAY } from '../src/subjects/events/push/sql/claim.ts';
import { disableEndpoint, writeEndpoint } from '../src/subjects/events/push/sql/endpoints.ts';
import { dropPushes } from '../src/subjects/events/push/sql/queue.ts';
import { insertPartner } from '../src/subjects/partners/sql/partners.ts';
import { registerApplicants } from '../test/support/delivery-run.ts';
import { endWaits } from '../test/support/pushes.ts';
import { startServiceProcess } from './service-process.ts';

/** How an endpoint refuses a push. */
export type Refusal = '500' | 'reset' | 'hang';

/** A push as an endpoint got it. */
export interface Receipt {
  /** The number of the event. */
  readonly number: number;
  /** The number of the event before it of the same application; null for its first one. */
  readonly previous: number | null;
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
  readonly refused: Refusal | null;
}

const APPLICATIONS = 10_000;
const CHUNK = 1_000;
const ADD = `
  SELECT add_partner_events('application.status_changed', array_fill($1::integer, ARRAY[cardinality($2::bigint[])]),
    $2::bigint[], 'in_review', 'pending_signature', 'unspecified', NULL)`;
const LAST = 'SELECT last::integer AS last FROM partner_event_totals WHERE partner_id = $1';
const FEED = 'SELECT number::integer AS number FROM partner_events WHERE partner_id = $1 ORDER BY number';
const secret = () => randomBytes(32).toString('base64');

/** Registers applicants and starts `workers`, which push to endpoints of this process alone. */
export async function startPushStage(workers: number) {
  const environment = {
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    LOG_LEVEL: 'error',
  };
  const service = await startServiceProcess({ ...environment, CHANNEL: 'log' });
  const database = openDatabase(
    { connectionString: service.connectionString },
    { max: 8, onError: () => {}, clock: machineClock },
  );
  const vault = new Vault({
    dataKeys: readDataKeys([environment.DATA_KEYS]),
    indexKey: readKey(environment.INDEX_KEY),
    apiKeyPepper: readKey(environment.API_KEY_PEPPER),
  });
  const peer = await startEndpoints(vault);
  const applicationIds = await registerApplicants(
    service.url.replace(/\/PRO$/, ''),
    service.apiKey,
    APPLICATIONS,
  );
  const children = Array.from({ length: workers }, () =>
    startWorker(service.serviceUrl, peer.port, environment),
  );
  const count = async (text: string, values: unknown[] = []) =>
    (await database.query<{ n: number }>(text, values)).rows[0]?.n ?? 0;
  let partners = 0;

  /** Adds an event for each application, in one transaction; resolves to the number of the last one. */
  async function addEvents(partnerId: PartnerId, ids: readonly number[]): Promise<number> {
    const last = await inTransaction(database, async (session) => {
      await session.query(ADD, [partnerId, ids]);
      return (await session.query<{ last: number }>(LAST, [partnerId])).rows[0]!.last;
    });
    peer.expect(partnerId, ids, last);
    return last;
  }

  return {
    applicationIds,
    addEvents,
    /** A partner with an endpoint; `refuse` is asked for each push. */
    async addPartner({ refuse = () => null }: { refuse?: () => Refusal | null } = {}): Promise<PartnerId> {
      const partner = await insertPartner(database, { name: `Partner ${++partners}`, country: 'CO' });
      const id = partner!.id;
      const url = peer.add(id, refuse);
      await writeEndpoint(database, vault, id, { url, newSecret: makeSigningSecret() });
      return id;
    },
    /** Adds this many events of a partner. */
    async fill(partnerId: PartnerId, events: number): Promise<void> {
      for (let done = 0; done < events; done += CHUNK) {
        const from = done % applicationIds.length;
        await addEvents(partnerId, applicationIds.slice(from, from + Math.min(CHUNK, events - done)));
      }
    },
    waiting: () => count('SELECT count(*)::integer AS n FROM pushes'),
    waitingOf: (partnerId: PartnerId) =>
      count('SELECT count(*)::integer AS n FROM pushes WHERE partner_id = $1', [partnerId]),
    /** The milliseconds of ten claims, of which nothing stays. */
    claimMs: (full: PartnerId) => claimMs(database, full),
    receiptsOf: peer.receiptsOf,
    async feedOf(partnerId: PartnerId): Promise<number[]> {
      return (await database.query<{ number: number }>(FEED, [partnerId])).rows.map(({ number }) => number);
    },
    /** Lets the waits of failed pushes and of probes end, as the passing of time would. */
    endWaits: () => endWaits({ database }),
    async disable(partnerId: PartnerId): Promise<void> {
      await disableEndpoint(database, partnerId);
      await dropPushes(database, partnerId);
    },
    async stop(): Promise<void> {
      for (const child of children) {
        child.kill('SIGTERM');
        if (child.exitCode === null) await once(child, 'exit');
      }
      peer.close();
      await database.end();
      await service.stop();
    },
  };
}

/** The endpoints of all partners, which remember what they got. */
async function startEndpoints(vault: Vault) {
  const refusals = new Map<PartnerId, () => Refusal | null>();
  const receipts = new Map<PartnerId, Receipt[]>();
  /** By partner and number, the event before it of the same application. */
  const previous = new Map<PartnerId, Map<number, number>>();
  const newest = new Map<PartnerId, Map<number, number>>();

  const receive = (request: IncomingMessage, response: ServerResponse) => {
    const partnerId = toPartnerId(Number(request.url?.slice(1)));
    const number = eventNumberOf(vault, partnerId, String(request.headers['webhook-id'])) ?? 0;
    const refused = refusals.get(partnerId)?.() ?? null;
    receipts.get(partnerId)?.push({
      number,
      previous: previous.get(partnerId)?.get(number) ?? null,
      atMs: performance.now(),
      refused,
    });
    request.resume();
    if (refused === 'hang') return;
    if (refused === 'reset') return request.socket.resetAndDestroy();
    request.once('end', () => response.writeHead(refused === null ? 204 : 500).end());
  };
  const server = createServer(receive).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    port,
    /** The URL of a new endpoint. */
    add(partnerId: PartnerId, refuse: () => Refusal | null): URL {
      refusals.set(partnerId, refuse);
      receipts.set(partnerId, []);
      previous.set(partnerId, new Map());
      newest.set(partnerId, new Map());
      return new URL(`http://127.0.0.1:${port}/${partnerId}`);
    },
    /** Notes new events, one an application; `last` is the number of the last one. */
    expect(partnerId: PartnerId, ids: readonly number[], last: number): void {
      for (const [index, id] of ids.entries()) {
        const number = last - ids.length + 1 + index;
        const before = newest.get(partnerId)?.get(id);
        if (before !== undefined) previous.get(partnerId)?.set(number, before);
        newest.get(partnerId)?.set(id, number);
      }
    },
    receiptsOf: (partnerId: PartnerId): readonly Receipt[] => receipts.get(partnerId) ?? [],
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The milliseconds of ten claims, of which nothing stays. */
async function claimMs(database: Database, full: PartnerId): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    await inTransaction(database, async (session) => {
      const startedMs = performance.now();
      await claimPushes(session, Array(MOST_UNDERWAY).fill(full));
      times.push(performance.now() - startedMs);
      throw new Undone();
    }).catch((error) => {
      if (!(error instanceof Undone)) throw error;
    });
  }
  return times;
}

class Undone extends Error {}

function startWorker(databaseUrl: string, port: number, environment: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ['src/main.ts', 'worker'], {
    env: {
      ...process.env,
      ...environment,
      DATABASE_URL: databaseUrl,
      CHANNEL: 'log',
      ENDPOINT_HOSTS: `127.0.0.1:${port}`,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}
