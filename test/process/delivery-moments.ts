/** The moments in which a worker is killed. Each moment lasts until the kill. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Database } from '../../src/ground/postgres/database.ts';
import type { Delivery } from './delivery-support.ts';
import { until, type Variables } from './support.ts';

/** A moment in which a worker dies. */
export interface Moment {
  readonly variables?: Variables;
  /** Resolves when the worker has reached the moment. The worker then waits there. */
  reached(): Promise<unknown>;
  /** Runs after the death of the worker. */
  afterwards?(): Promise<unknown>;
}

/** Prepares a moment for a worker that will start later and take up these messages. */
export type ReachMoment = (delivery: Delivery, ids: readonly number[]) => Promise<Moment>;

/** The messages are claimed. The statement that marks them as sending waits, and is undone with its session. */
export const beforeCommit: ReachMoment = async ({ service }) => {
  const { reached, letGo } = await blockade(service.database, 'SELECT FROM sender FOR UPDATE');
  return { reached, afterwards: letGo };
};

const HOLD_COMMITS = `
  CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON leases DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION hold_commit()`;

/** The server is about to commit. The commit happens after the worker's death. */
export const duringCommit: ReachMoment = async ({ service }) => {
  await service.database.query(HOLD_COMMITS);
  const { reached, letGo } = await blockade(service.database, 'SELECT pg_advisory_xact_lock(1)');
  return { reached, afterwards: letGo };
};

/** Connections are made, but TLS never begins. */
export const beforeRequest: ReachMoment = async (_, ids) => {
  let connections = 0;
  const mute = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  return {
    variables: { WHATSAPP_API_URL: `https://127.0.0.1:${port}/v25.0` },
    reached: () => until('the connections', () => connections === ids.length),
    afterwards: async () => mute.close(),
  };
};

/** The API has taken all messages and answers none. */
export const whileSending: ReachMoment = async ({ apis: [api], takenOf }, ids) => {
  api.fault = () => ({ accept: true, answer: 'never' });
  return { reached: () => until('the requests', () => ids.every((id) => takenOf(id).length > 0)) };
};

/** The answer has arrived. The record waits, and is lost with its connection. */
export const beforeRecord: ReachMoment = async (delivery, ids) => {
  const locked = lockWhenTaken(delivery, ids);
  return { reached: async () => (await locked).reached(), afterwards: async () => (await locked).cutOff() };
};

/** The record waits. It is written after the worker's death. */
export const duringRecord: ReachMoment = async (delivery, ids) => {
  const locked = lockWhenTaken(delivery, ids);
  return { reached: async () => (await locked).reached(), afterwards: async () => (await locked).letGo() };
};

/** Locks the records of the messages once the API has taken the first message and before it answers. */
function lockWhenTaken({ service, apis: [api] }: Delivery, ids: readonly number[]): Promise<Blockade> {
  return new Promise((resolve, reject) => {
    let locked: Promise<Blockade> | undefined;
    api.onAccept = async () => {
      locked ??= blockade(service.database, 'SELECT make_messages($1)', [ids]);
      locked.then(resolve, reject);
      await locked;
    };
  });
}

export interface Blockade {
  /** Resolves when this many sessions wait for the lock. */
  reached(sessions?: number): Promise<unknown>;
  /** Releases the lock, so that the waiting sessions go on. */
  end(): Promise<void>;
  /** Releases the lock. Resolves when the sessions, whose client is dead, have ended. */
  letGo(): Promise<void>;
  /** Ends the waiting sessions, as if the server had lost them with the connection. */
  cutOff(): Promise<void>;
}

const WAITING = `
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** A session that holds the locks of a statement. No other session of the database may wait for locks. */
export async function blockade(
  database: Database,
  statement: string,
  values: unknown[] = [],
): Promise<Blockade> {
  const session = await database.connect();
  await session.query('BEGIN');
  await session.query(statement, values);
  const waiting = async () => (await database.query<{ pid: number }>(WAITING)).rows.map(({ pid }) => pid);
  const end = async () => {
    await session.query('ROLLBACK');
    session.release();
  };
  const letGo = async () => {
    const pids = await waiting();
    await end();
    await until('the sessions of the dead to end', async () => {
      const left = await database.query('SELECT FROM pg_stat_activity WHERE pid = ANY ($1)', [pids]);
      return left.rows.length === 0;
    });
  };
  return {
    reached: (sessions = 1) => until('sessions to wait', async () => (await waiting()).length >= sessions),
    end,
    letGo,
    async cutOff() {
      for (const pid of await waiting()) await database.query('SELECT pg_terminate_backend($1)', [pid]);
      await letGo();
    },
  };
}
