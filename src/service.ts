/** The `serve` role: everything wired together, listening, and stopped in order. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';
import { namedFields } from './domain/fields.ts';
import { DEFAULT_POLICY } from './domain/policy.ts';
import { opsApi } from './http/ops-api.ts';
import { partnerApi } from './http/partner-api.ts';
import { Credentials } from './storage/credentials.ts';
import { isMigrated } from './storage/migrations.ts';
import { rememberPolicy } from './storage/policies.ts';
import { Registrar } from './storage/registration.ts';
import type { Store } from './store.ts';
import { authenticator } from './usecases/authenticate.ts';
import { ingestBatch } from './usecases/ingest-batch.ts';
import { loadPolicy } from './usecases/load-policy.ts';
import { quotaStatus } from './usecases/quota-status.ts';
import { startUpkeep } from './usecases/upkeep.ts';

export interface Service {
  /** `http://host:port` with the base path. */
  readonly url: string;
  readonly opsUrl: string;
  /** Answers what is under way, refuses what is new, and ends. The store stays open. */
  stop(): Promise<void>;
}

/** Logs to stderr-free stdout as JSON lines; sent where the level allows. */
export function createLog(config: Config): Logger {
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

/** Starts to listen on both ports; throws where the policy is refused or a port is taken. */
export async function startService(config: Config, store: Store, log: Logger): Promise<Service> {
  const { database, vault } = store;
  const policy = config.policyFile === null ? DEFAULT_POLICY : await loadPolicy(config.policyFile);
  const registrar = new Registrar(database, await rememberPolicy(database, policy));
  const fields = namedFields(config.channelName);
  const ingest = { fields, policy, vault, registrar };
  const partner = partnerApi({
    basePath: config.basePath,
    fields,
    log,
    authenticate: authenticator(vault, new Credentials(database)),
    ingest: (request) => ingestBatch(ingest, request),
    quota: (credential) => quotaStatus(database, credential.partner.id, credential.dailyCap),
  });
  let stopping = false;
  const ops = opsApi(async () => !stopping && (await isMigrated(database)));
  await partner.listen({ host: config.host, port: config.port });
  await ops.listen({ host: config.opsHost, port: config.opsPort });
  const stopUpkeep = startUpkeep(database, (error) =>
    log.warn(
      { error: error instanceof Error ? error.name : 'unknown' },
      'upkeep failed; it will be tried again',
    ),
  );
  return {
    url: urlOf(partner) + config.basePath,
    opsUrl: urlOf(ops),
    async stop() {
      stopping = true;
      await partner.close();
      await stopUpkeep();
      await ops.close();
    },
  };
}

function urlOf(app: FastifyInstance): string {
  const { address, port, family } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
