/** Partner events of a soak and the endpoint that they are pushed to, which fails a part of the pushes (D41). */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerId } from '../../src/partners/rules/credential.ts';
import type { Database } from '../../src/postgres/database.ts';
import { eventIdOf } from '../../src/seal/event-ids.ts';
import type { Vault } from '../../src/seal/vault.ts';
import { endWaits } from '../support/pushes.ts';
import type { Random } from '../support/random.ts';
import type { Promises } from './promises.ts';

/** The share of pushes that fail: refused, without an answer, and taken without an answer. */
const FAULT_SHARE = 0.1;
const EVENTS = 20;
const ALL_WITHIN_MS = 60_000;

/** Events of the newest applications of any partner with an endpoint, in one transaction. */
const ADD = `
  SELECT add_partner_events('application.status_changed', array_agg(a.partner_id), array_agg(a.id), 'in_review',
    'pending_signature', 'unspecified', NULL)
  FROM (
    SELECT b.partner_id, application_id_at(b.id, 0) AS id FROM batches b
    JOIN partner_endpoints e ON e.partner_id = b.partner_id
    ORDER BY b.id DESC LIMIT ${EVENTS}) AS a
  HAVING count(*) > 0`;
const FEED = `
  SELECT t.partner_id, e.number::integer AS number, e.application_id FROM partner_event_totals t
  JOIN partner_endpoints p ON p.partner_id = t.partner_id
  JOIN partner_events e ON e.partner_id = t.partner_id
  ORDER BY e.partner_id, e.number`;
const LAST = `
  SELECT t.partner_id, t.last::integer AS last FROM partner_event_totals t
  JOIN partner_endpoints p ON p.partner_id = t.partner_id`;
const LEFT = 'SELECT count(*)::integer AS count FROM pushes';
const DISABLED = 'SELECT count(*)::integer AS count FROM partner_endpoints WHERE disabled_at IS NOT NULL';
/** A worker that was killed holds its leases for half a minute. */
const END_LEASES = 'UPDATE pushes SET leased_until = now() WHERE leased_until > now()';

/** The endpoint of all partners of a soak; the path of its URL is the partner. */
export class SoakEndpoint {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  /** The ids of events, in the order of their pushes. */
  readonly #received: string[] = [];
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

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Adds events of registered applications. */
  async addEvents(database: Database): Promise<void> {
    await database.query(ADD);
  }

  /** Waits until nothing is left to push, with a healthy worker, and compares the feed with what came. */
  async check(database: Database, vault: Vault, promises: Promises): Promise<void> {
    this.failBy(null);
    await database.query(END_LEASES);
    const giveUpAtMs = performance.now() + ALL_WITHIN_MS;
    const count = async (text: string) => (await database.query<{ count: number }>(text)).rows[0]?.count ?? 0;
    while ((await count(LEFT)) > 0 && performance.now() < giveUpAtMs) {
      await endWaits({ database });
      await sleep(200);
    }
    const left = await count(LEFT);
    promises.hold('pushes', left === 0, () => `${left} wait for ever`);
    const disabled = await count(DISABLED);
    promises.hold('pushes', disabled === 0, () => `${disabled} endpoints are disabled`);

    const places = new Map(
      this.#received.toReversed().map((id, index, { length }) => [id, length - 1 - index]),
    );
    const { rows } = await database.query<{ partner_id: PartnerId; number: number; application_id: string }>(
      FEED,
    );
    const newest = new Map<string, number>();
    for (const { partner_id: partnerId, number, application_id: applicationId } of rows) {
      const place = places.get(eventIdOf(vault, partnerId, number));
      promises.hold(
        'pushes',
        place !== undefined,
        () => `event ${number} of partner ${partnerId} did not come`,
      );
      const before = newest.get(applicationId) ?? -1;
      promises.hold(
        'pushes',
        (place ?? before) >= before,
        () => `event ${number} of ${partnerId} came too early`,
      );
      newest.set(applicationId, Math.max(place ?? 0, before));
    }
    for (const { partner_id, last } of (await database.query<{ partner_id: PartnerId; last: number }>(LAST))
      .rows) {
      const kept = rows.filter((row) => row.partner_id === partner_id).length;
      promises.hold('feed', kept === last, () => `partner ${partner_id} has ${kept} of ${last} events`);
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.#received.push(String(request.headers['webhook-id']));
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
