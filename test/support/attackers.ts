/** Hostile clients; the test watches what they cost other clients. */
import { connect, type Socket } from 'node:net';
import { giveUpAfter, PATIENCE_MS } from './eventually.ts';

interface Flood {
  readonly connections: number;
  /** Each connection writes this in one piece. */
  readonly bytes: Buffer;
}

/** Each connection writes its bytes, reads no answer, and leaves after the last write. */
export async function writeAndLeave(url: string, { connections, bytes }: Flood): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)));
  await Promise.all(sockets.map((socket) => written(socket, bytes, 10_000)));
  for (const socket of sockets) socket.destroy();
}

/** Each connection writes its bytes and waits for an answer or the end. Gives how many answers of each status came. */
export async function writeAndRead(
  url: string,
  { connections, bytes }: Flood,
  withinMs = PATIENCE_MS,
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await open(url);
      const answered = firstStatus(socket, withinMs);
      void written(socket, bytes, withinMs);
      const status = await answered;
      statuses[status] = (statuses[status] ?? 0) + 1;
      socket.destroy();
    }),
  );
  return statuses;
}

/** The same request without a body `requests` times, in one piece. */
export function pipeline(request: string, requests: number): Buffer {
  return Buffer.from(request.repeat(requests));
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    // A connection that is refused or reset is an answer too.
    socket.on('error', () => resolve(socket));
    socket.on('connect', () => resolve(socket));
  });
}

function written(socket: Socket, bytes: Buffer, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = giveUpAfter(withinMs, resolve);
    const end = () => {
      cancel();
      resolve();
    };
    socket.on('close', end);
    socket.write(bytes, end);
  });
}

/** The status of the first final answer, or `closed`, or `nothing` if the time is over. */
function firstStatus(socket: Socket, withinMs: number): Promise<string> {
  return new Promise((resolve) => {
    let head = '';
    const cancel = giveUpAfter(withinMs, () => resolve('nothing'));
    const finish = (status: string) => {
      cancel();
      resolve(status);
    };
    socket.on('data', (chunk) => {
      head = (head + chunk.toString('latin1')).slice(0, 1_000);
      const status = /HTTP\/1\.1 ([2-5]\d\d)/.exec(head)?.[1];
      if (status !== undefined) finish(status);
    });
    socket.on('close', () => finish('closed'));
    if (socket.destroyed) finish('closed');
  });
}
