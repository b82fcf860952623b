/** The endpoint of all partners of a run; the path of its URL is the partner. It fails a part of the pushes (D41). */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../../../test/support/random.ts';
import type { Pushes } from '../../history/history.ts';

/** The share of pushes that fail: refused, taken without an answer, and without an end. */
const FAULT_SHARE = 0.1;

export class Endpoint {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #received = new Map<number, string[]>();
  #random: Random | null = null;

  /** `host:port`, as ENDPOINT_HOSTS has it. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on a part of the pushes fail; null: none. */
  failBy(random: Random | null): void {
    this.#random = random;
  }

  get pushes(): Pushes[] {
    return [...this.#received].map(([partnerId, ids]) => ({ partnerId, ids }));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const partnerId = Number(request.url?.slice(1));
    const ids = this.#received.get(partnerId) ?? [];
    ids.push(String(request.headers['webhook-id']));
    this.#received.set(partnerId, ids);
    request.resume();
    if (this.#random?.isLucky(FAULT_SHARE)) {
      const kind = this.#random.between(0, 2);
      if (kind === 0) return void response.writeHead(500).end();
      if (kind === 1) return void request.socket.destroy();
      // No answer at all: the push ends at its time limit.
      return;
    }
    request.once('end', () => response.writeHead(204).end());
  }
}
