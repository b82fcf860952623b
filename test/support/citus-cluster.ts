/** A Citus cluster on this machine: a coordinator and workers, with fsync on, as in production. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createOn, createOnAll } from './citus-database.ts';
import { serverFolder } from './server-folder.ts';

/** Where distributions put PostgreSQL. `CITUS_BIN` names another folder of programs that has Citus. */
const HOMES = '/usr/lib/postgresql';

/** The folder of programs of a PostgreSQL with Citus; null if there is none. */
export function findCitus(): string | null {
  if (process.env.CITUS_BIN !== undefined) return process.env.CITUS_BIN;
  const versions = existsSync(HOMES) ? readdirSync(HOMES) : [];
  const found = versions.find((version) => existsSync(join(HOMES, version, 'lib/citus.so')));
  return found === undefined ? null : join(HOMES, found, 'bin');
}

/** The servers refuse to run as root. */
const asServer = (): { uid: number; gid: number } | Record<string, never> => {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

type ServerSettings = Readonly<Record<string, string>>;

export class CitusCluster {
  readonly #bin: string;
  readonly #settings: ServerSettings;
  readonly #folder: string;
  readonly #account = asServer();
  readonly #password = randomBytes(16).toString('hex');
  readonly #ports: number[] = [];

  private constructor(bin: string, settings: ServerSettings) {
    this.#bin = bin;
    this.#settings = settings;
    this.#folder = mkdtempSync(join(serverFolder(), 'ventanilla-citus-'));
    this.#own(this.#folder);
  }

  /**
   * Starts the cluster and makes the database `ventanilla`, which is not distributed yet. `settings` are settings of
   * every server besides the usual ones; FOLDER in a value is a folder of the server's own beside its data.
   */
  static async start(bin: string, workers = 2, settings: ServerSettings = {}): Promise<CitusCluster> {
    const cluster = new CitusCluster(bin, settings);
    try {
      const ports: number[] = [];
      for (let node = 0; node <= workers; node += 1) ports.push(await freePort());
      // Citus locks the machines in the order of their ports. On the coordinator a limit of waits holds anyway.
      for (const [node, port] of ports.toSorted((one, other) => other - one).entries())
        cluster.#make(node, port);
      await createOnAll(cluster.machines('postgres'), 'ventanilla');
      return cluster;
    } catch (error) {
      cluster.stop();
      throw error;
    }
  }

  /** Starts one more machine, with the database, which the coordinator does not know yet. Returns its number. */
  async addMachine(): Promise<number> {
    const node = this.#ports.length;
    this.#make(node, await freePort());
    await createOn(this.machines('postgres')[node] as string, 'ventanilla');
    return node;
  }

  /** URLs of a database on all machines, the coordinator's first. The user is a superuser. */
  machines(database = 'ventanilla'): string[] {
    return this.#ports.map((port) => `postgres://postgres:${this.#password}@127.0.0.1:${port}/${database}`);
  }

  /** Copies the data of all machines, one after the other, while the machines run. */
  backUp(): void {
    for (const [node, port] of this.#ports.entries()) {
      const place = ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'postgres'];
      this.#run('pg_basebackup', [...place, '-c', 'fast', '-X', 'none', '-D', this.#beside(node, 'copy')]);
    }
  }

  /**
   * Starts all machines from their copies, each at another address, with these settings, as recoveries begin. The
   * machines of before must be stopped.
   */
  async restore(settings: ServerSettings): Promise<void> {
    for (const node of this.#ports.keys()) {
      const folder = join(this.#folder, `${node}`);
      rmSync(folder, { recursive: true });
      execFileSync('cp', ['-Rp', this.#beside(node, 'copy'), folder]);
      this.#ports[node] = await freePort();
      this.#configure(node, { port: this.#ports[node], ...settings });
      this.#write(join(folder, 'recovery.signal'), '');
      this.startMachine(node);
    }
  }

  startMachine(node: number): void {
    const [folder, log] = [join(this.#folder, `${node}`), join(this.#folder, `${node}.log`)];
    this.#run('pg_ctl', ['start', '-D', folder, '-l', log, '-w', '-s']);
  }

  /** Kills a machine's server, as a crash does. */
  killMachine(node: number): void {
    this.#run('pg_ctl', ['stop', '-D', join(this.#folder, `${node}`), '-m', 'immediate', '-w', '-s']);
  }

  /** Makes a machine's server silent: it accepts connections and answers nothing. Returns a function that ends this. */
  freezeMachine(node: number): () => void {
    const postmaster = Number(
      readFileSync(join(this.#folder, `${node}`, 'postmaster.pid'), 'utf8').split('\n')[0],
    );
    const children = execFileSync('pgrep', ['-P', `${postmaster}`], { encoding: 'utf8' });
    const pids = [postmaster, ...children.trim().split('\n').map(Number)];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    };
  }

  stop(): void {
    for (const node of this.#ports.keys()) {
      if (existsSync(join(this.#folder, `${node}`, 'postmaster.pid'))) this.killMachine(node);
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  #make(node: number, port: number): void {
    const folder = join(this.#folder, `${node}`);
    const passwordFile = join(this.#folder, 'password');
    this.#write(passwordFile, this.#password);
    const options = [
      '-A',
      'scram-sha-256',
      '-U',
      'postgres',
      '--pwfile',
      passwordFile,
      '-E',
      'UTF8',
      '--locale=C',
    ];
    // Made once, because it takes as long as all the rest.
    const fresh = join(this.#folder, 'fresh');
    if (!existsSync(fresh)) this.#run('initdb', ['-D', fresh, ...options]);
    execFileSync('cp', ['-Rp', fresh, folder]);
    // The machines reach each other as the user that they run as.
    this.#write(join(this.#folder, 'pgpass'), `127.0.0.1:*:*:*:${this.#password}\n`);
    mkdirSync(this.#beside(node, 'own'));
    this.#own(this.#beside(node, 'own'));
    this.#ports.push(port);
    this.#configure(node, {
      port,
      listen_addresses: "'127.0.0.1'",
      unix_socket_directories: "''",
      shared_preload_libraries: "'citus'",
      max_connections: 300,
      max_prepared_transactions: 600,
      max_worker_processes: 32,
      wal_level: 'logical',
      // By this name a machine connects to itself, for moves of shards in the background.
      'citus.local_hostname': "'127.0.0.1'",
      // A move of a shard waits for the next look at the queue: 5 s by default.
      'citus.background_task_queue_interval': "'200ms'",
      // The data lie in memory, and no test cuts the power.
      fsync: 'off',
      // Finds the prepared transactions of a crash sooner than by default.
      'citus.recover_2pc_interval': "'5s'",
      ...this.#settings,
    });
    this.startMachine(node);
  }

  /** Adds settings of a machine; the last one of a name holds. Citus has put settings of its own there. */
  #configure(node: number, settings: Readonly<Record<string, string | number>>): void {
    const lines = Object.entries(settings).map(([name, value]) =>
      `${name} = ${value}\n`.replaceAll('FOLDER', this.#beside(node, 'own')),
    );
    appendFileSync(join(this.#folder, `${node}`, 'postgresql.auto.conf'), lines.join(''));
  }

  /** A folder beside the data of a machine. */
  #beside(node: number, name: string): string {
    return join(this.#folder, `${node}-${name}`);
  }

  #run(program: string, args: string[]): void {
    // The certificates of the user who runs the tests are not for these servers.
    const env = { ...process.env, HOME: this.#folder, PGPASSFILE: join(this.#folder, 'pgpass') };
    execFileSync(join(this.#bin, program), args, {
      stdio: 'ignore',
      env,
      cwd: this.#folder,
      ...this.#account,
    });
  }

  #write(path: string, text: string): void {
    writeFileSync(path, text, { mode: 0o600 });
    this.#own(path);
  }

  #own(path: string): void {
    const { uid, gid } = this.#account;
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
