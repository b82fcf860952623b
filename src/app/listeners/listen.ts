/** Opens a listener of the process and logs its URL. Touches the network; an error names the variable to change. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { errorCode } from '../../ground/base/describe-error.ts';
import { ConfigError } from '../config/config.ts';

/** Listens on the address. Throws a `ConfigError` that names the variable if the address cannot be used. */
export async function listen(
  app: FastifyInstance,
  [hostName, host]: readonly [string, string],
  [portName, port]: readonly [string, number],
): Promise<void> {
  try {
    await refuseTaken(host, port);
    await app.listen({ host, port });
  } catch (error) {
    const address = `${host}:${port}`;
    switch (errorCode(error)) {
      case 'EADDRINUSE':
        throw new ConfigError(portName, `must be a free port: something listens on ${address}`);
      case 'EACCES':
        throw new ConfigError(portName, `must be a port that this user may listen on: ${address} is refused`);
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        throw new ConfigError(hostName, `must be an address of this machine: ${host} is not`);
      default:
        throw error;
    }
  }
}

/** A listener that is open. */
export interface Listener {
  close(): Promise<void>;
}

/** For a process without such a listener. */
export const NO_LISTENER: Listener = { close: async () => {} };

/** Opens a listener and logs its URL with `text`. Throws as `listen`; then nothing is open. */
export async function openListener(
  app: FastifyInstance,
  host: readonly [string, string],
  port: readonly [string, number],
  log: Logger,
  text: string,
): Promise<Listener> {
  try {
    await listen(app, host, port);
  } catch (error) {
    await app.close();
    throw error;
  }
  log.info({ url: urlOf(app) }, text);
  return { close: () => app.close() };
}

/** The port of a listener. */
export function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port;
}

/**
 * Rejects if a program listens there already: a listener that shares its address would share it with that program too.
 */
async function refuseTaken(host: string, port: number): Promise<void> {
  const probe = createServer().listen({ host, port });
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

/** `http://host:port` of a listener. */
export function urlOf(app: FastifyInstance): string {
  const { address, port, family } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
