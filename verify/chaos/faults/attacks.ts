/** Hostile clients, each in a process of its own: `node attacks.ts NAME`, other settings by the environment. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodies } from '../../../bench/applicants.ts';

const { ATTACK_URL = '', ATTACK_KEY = '', ATTACK_STREAM = '1' } = process.env;
const { hostname, port } = new URL(ATTACK_URL || 'http://127.0.0.1:1');
const FLOOD_MS = 3_000;

const head = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: ${hostname}\r\n${more}`;
const postHead = (path: string, length: number, more = '') =>
  head(`POST ${path}`, `${more}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`);
const keyed = `X-API-Key: ${ATTACK_KEY}\r\n`;

/** The attacks by name. */
export const ATTACKS = {
  'pipelined requests of clients that leave': async () => {
    const pipeline = Buffer.from(`${head('GET /x')}\r\n`.repeat(2_300));
    const sockets = await open(100);
    for (const socket of sockets) socket.write(pipeline);
    await sleep(1_000);
    for (const socket of sockets) socket.destroy();
  },
  'a flood of batches by one partner': async () => {
    const nextBody = bodies(100, Number(ATTACK_STREAM));
    const until = performance.now() + FLOOD_MS;
    const sockets = await open(64);
    const send = (socket: Socket) => {
      const body = nextBody();
      socket.write(Buffer.concat([Buffer.from(postHead('/PRO', body.length, keyed)), body]));
    };
    for (const socket of sockets) {
      socket.on('data', () => performance.now() < until && send(socket));
      send(socket);
    }
    await sleep(FLOOD_MS + 500);
    for (const socket of sockets) socket.destroy();
  },
  'deep JSON on the sandbox': async () => {
    const body = Buffer.alloc(4 * 1024 * 1024 - 1, '[');
    const sockets = await open(16);
    for (const socket of sockets)
      socket.write(Buffer.concat([Buffer.from(postHead('/DEV', body.length, keyed)), body]));
    await sleep(2_000);
    for (const socket of sockets) socket.destroy();
  },
  'large webhooks without a signature': async () => {
    const body = Buffer.alloc(1024 * 1024, ' ');
    const sockets = await open(100);
    for (const socket of sockets)
      socket.write(Buffer.concat([Buffer.from(postHead('/webhooks/whatsapp', body.length)), body]));
    await sleep(2_000);
    for (const socket of sockets) socket.destroy();
  },
  'uploads that never end': async () => {
    const sockets = await open(200);
    for (const socket of sockets) socket.write(`${postHead('/PRO', 1_000_000, keyed)}{"applications":[`);
    await sleep(3_000);
    for (const socket of sockets) socket.destroy();
  },
} as const;

export type Attack = keyof typeof ATTACKS;

function open(count: number): Promise<Socket[]> {
  const one = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) });
      // A connection that is refused or cut off has had its answer.
      socket.on('error', () => resolve(socket));
      socket.on('connect', () => resolve(socket));
      socket.resume();
    });
  return Promise.all(Array.from({ length: count }, one));
}

if (import.meta.main) {
  await ATTACKS[process.argv[2] as Attack]();
  process.exit(0);
}
