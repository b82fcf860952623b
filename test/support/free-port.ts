/** A port for a program that cannot choose one itself. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of 127.0.0.1 that is free at this moment. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Below the ports that the system gives to connections. */
const PORTS = { from: 20_000, count: 10_000 };

/** A free port that stays free while a program is restarted and does not listen for a moment. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
}

/** Whether nobody listens on a port of 127.0.0.1 at this moment. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!listens) return false;
  server.close();
  await once(server, 'close');
  return true;
}
