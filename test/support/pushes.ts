/** Partner events and the loop of their pushes, for tests on a database of their own. */
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import type { Clock } from '../../src/ground/base/clock.ts';
import type { Loop } from '../../src/program/subject/subject.ts';
import { pushSender } from '../../src/subjects/events/push/http/sender.ts';
import { makeSigningSecret } from '../../src/subjects/events/push/http/sign.ts';
import { readEndpointUrl } from '../../src/subjects/events/push/rules/endpoint-url.ts';
import { startPusher } from '../../src/subjects/events/push/service.ts';
import { writeEndpoint } from '../../src/subjects/events/push/sql/endpoints.ts';
import { type EndpointChange, recordPushes } from '../../src/subjects/events/push/sql/record.ts';
import type { PushContext } from '../../src/subjects/events/push/turn.ts';
import type { TestDatabase } from './database.ts';

type Store = Pick<TestDatabase, 'database' | 'vault' | 'clock'>;

/** Gives a partner an endpoint, with http on this machine where `host` names it. Resolves to the secret. */
export async function setEndpoint(
  { database, vault }: Store,
  partnerId: PartnerId,
  peer: { url: string; host: string },
) {
  const newSecret = makeSigningSecret();
  const url = readEndpointUrl(peer.url, new Set([peer.host]));
  return (await writeEndpoint(database, vault, partnerId, { url, newSecret })) ?? '';
}

/**
 * Adds an event for each application, in one transaction. The applications need not exist: then the ID number is null.
 */
export async function addEvents(
  { database }: Pick<Store, 'database'>,
  partnerId: PartnerId,
  applicationIds: readonly number[],
): Promise<void> {
  await database.query(
    `SELECT add_partner_events('application.status_changed', array_fill($1::integer, ARRAY[cardinality($2::bigint[])]),
      $2::bigint[], 'in_review', 'pending_signature', 'income_verified', NULL)`,
    [partnerId, applicationIds],
  );
}

/** A push in the queue. */
export interface QueuedPush {
  readonly number: number;
  readonly attempts: number;
  readonly isLeased: boolean;
  /** From now; below 0 where it is due. */
  readonly dueInS: number;
}

export async function queueOf(
  { database }: Pick<Store, 'database'>,
  partnerId: PartnerId,
): Promise<QueuedPush[]> {
  const { rows } = await database.query(
    `SELECT number::integer, attempts, leased_until IS NOT NULL AS "isLeased",
      extract(epoch FROM due_at - clock_timestamp())::float8 AS "dueInS"
    FROM pushes WHERE partner_id = $1 ORDER BY number`,
    [partnerId],
  );
  return rows;
}

/** Waits for no lock, so that it takes part in no deadlock. */
const END_WAITS = `
  UPDATE pushes SET due_at = now() WHERE (partner_id, number) IN (
    SELECT partner_id, number FROM pushes WHERE due_at > now() FOR NO KEY UPDATE SKIP LOCKED)`;
const END_PAUSES = `
  UPDATE partner_endpoints SET probe_at = now() WHERE partner_id IN (
    SELECT partner_id FROM partner_endpoints WHERE probe_at > now() FOR NO KEY UPDATE SKIP LOCKED)`;

/** Makes every wait of the queue end now, as the passing of time would. */
export async function endWaits({ database }: Pick<Store, 'database'>): Promise<void> {
  await database.query(END_WAITS);
  await database.query(END_PAUSES);
}

/** What a turn needs, with the sender of the real service. `changes` collects what is told of endpoints. */
export function pushContext(
  { database, vault, clock }: Store,
  hosts: readonly string[],
  {
    timeoutMs,
    changes = [],
    senderClock = clock,
  }: { timeoutMs?: number; changes?: EndpointChange[]; senderClock?: Clock } = {},
): PushContext {
  return {
    database,
    vault,
    clock,
    sender: pushSender({
      clock: senderClock,
      hosts: new Set(hosts),
      ...(timeoutMs !== undefined && { timeoutMs }),
    }),
    record: async (record) => {
      changes.push(...(await recordPushes(database, [record])));
    },
    onFault: () => {},
  };
}

/** The loop of the service. A turn that fails is told to `errors`. */
export function runPusher(context: PushContext, errors: unknown[] = []): Loop {
  return startPusher(context, (error) => errors.push(error));
}
