/** The measured service: a process of its own, with an embedded store in a folder of its own. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { machineClock } from '../src/ground/base/clock.ts';
import { openEmbedded } from '../src/ground/embedded/server.ts';
import { secretsOfDataDir } from '../src/seal/secrets-file.ts';
import { Vault } from '../src/seal/vault.ts';
import { makeKey } from '../src/subjects/partners/uses/keys.ts';
import { remac } from '../test/support/remac.ts';

export interface ServiceProcess {
  /** The process of the service, not of its database. */
  readonly pid: number;
  readonly url: string;
  readonly apiKey: string;
  /** Of the owner of the tables. */
  readonly connectionString: string;
  readonly dataDir: string;
  /** Of the role that services and workers have. */
  readonly serviceUrl: string;
  /** A session beside the service, which prepares measurements. */
  readonly admin: pg.Client;
  /** Adds a partner. Resolves to its key, for both environments and without a cap. */
  addPartner(name: string): Promise<string>;
  /** After a change of operators or API keys by SQL: gives the rows the MACs of the service. */
  remac(): Promise<void>;
  stop(): Promise<void>;
}

const ADD_PARTNER = `
  WITH partner AS (INSERT INTO partners (name, country) VALUES ($1, 'CO') RETURNING id),
    usage AS (INSERT INTO usage_totals (partner_id) SELECT id FROM partner)
  INSERT INTO api_keys (partner_id, digest, hint, pepper) SELECT id, $2, $3, $4 FROM partner`;
const HAS_MACS = `
  SELECT FROM information_schema.columns WHERE table_name = 'api_keys' AND column_name = 'mac'`;

/**
 * Starts a service. `environment` adds variables to the defaults, with which nothing is delivered. `folder` is the
 * checkout to measure.
 */
export async function startServiceProcess(
  environment: Record<string, string> = {},
  folder = '.',
): Promise<ServiceProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ventanilla-bench-'));
  const child = spawn(process.execPath, ['src/start.js', 'serve'], {
    cwd: folder,
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      OPS_PORT: '0',
      LOG_LEVEL: 'warn',
      DELIVERY: 'off',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGTERM');
  process.on('exit', kill);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /(http:\S+\/PRO) /.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error('the service ended')));
  });
  const server = await openEmbedded({ dataDir, clock: machineClock });
  const [connectionString, serviceUrl] = [server.superuser, server.service].map(
    ({ host, port, user, password, database }) =>
      `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`,
  ) as [string, string];
  const admin = new pg.Client({ connectionString });
  await admin.connect();
  const vaultOf = async () => new Vault(await secretsOfDataDir(dataDir, false, machineClock));
  const remacked = async () => {
    // An older checkout has none.
    const { rowCount } = await admin.query(HAS_MACS);
    if (rowCount !== 0) await remac({ database: admin as never, vault: await vaultOf() });
  };
  return {
    pid: child.pid as number,
    url,
    apiKey: (await readFile(join(dataDir, 'demo-key'), 'utf8')).trim(),
    connectionString,
    dataDir,
    serviceUrl,
    admin,
    async addPartner(name) {
      const { apiKey, text } = makeKey(await vaultOf(), null);
      await admin.query(ADD_PARTNER, [name, text.digest, text.hint, text.pepper]);
      await remacked();
      return apiKey;
    },
    remac: remacked,
    stop: async () => {
      await admin.end();
      await server.close();
      kill();
      await ended;
      process.off('exit', kill);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
