/** The moments in which a worker is killed, each held open until that is done. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Database } from '../../src/storage/database.ts';
import type { Delivery } from './delivery-support.ts';
import { until, type Variables } from './support.ts';

/** Where a worker dies. */
export interface Moment {
  readonly variables?: Variables;
  /** Resolves when the worker is there; it stays there. */
  reached(): Promise<unknown>;
  /** What happens when it has died. */
  afterwards?(): Promise<unknown>;
}

/** Prepares a moment for a worker that is not started yet and that will take up these messages. */
export type ReachMoment = (delivery: Delivery, ids: readonly number[]) => Promise<Moment>;

/** The messages are claimed; what marks them as sending waits, and is undone with its session. */
export const beforeCommit: ReachMoment = async ({ service }) => {
  const { reached, letGo } = await blockade(service.database, 'SELECT FROM sender FOR UPDATE');
  return { reached, afterwards: letGo };
};

const HOLD_COMMITS = `
  CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON leases DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION hold_commit()`;

/** The server is about to commit, and does so after the worker's death. */
export const duringCommit: ReachMoment = async ({ service }) => {
  await service.database.query(HOLD_COMMITS);
  const { reached, letGo } = await blockade(service.database, 'SELECT pg_advisory_xact_lock(1)');
  return { reached, afterwards: letGo };
};

/** Connections are made, and TLS never begins. */
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

/** The API has taken all of them and answers none. */
export const whileSending: ReachMoment = async ({ apis: [api], takenOf }, ids) => {
  api.fault = () => ({ accept: true, answer: 'never' });
  return { reached: () => until('the requests', () => ids.every((id) => takenOf(id).length > 0)) };
};

/** The answer is there; the record waits, and is lost with its connection. */
export const beforeRecord: ReachMoment = async (delivery, ids) => {
  const locked = lockWhenTaken(delivery, ids);
  return { reached: async () => (await locked).reached(), afterwards: async () => (await locked).cutOff() };
};

/** The record waits, and is written after the worker's death. */
export const duringRecord: ReachMoment = async (delivery, ids) => {
  const locked = lockWhenTaken(delivery, ids);
  return { reached: async () => (await locked).reached(), afterwards: async () => (await locked).letGo() };
};

/** Their records are being made from when the API has taken the first of them and has not answered yet. */
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
  /** Resolves when so many sessions wait for it. */
  reached(sessions?: number): Promise<unknown>;
  /** What waited goes on. */
  end(): Promise<void>;
  /** The same; resolves when those sessions, whose client is dead, have ended. */
  letGo(): Promise<void>;
  /** Ends what waited: the server lost it with the connection. */
  cutOff(): Promise<void>;
}

const WAITING = `
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** A session that holds what the statement locks. Nobody else in the database may wait for locks. */
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
