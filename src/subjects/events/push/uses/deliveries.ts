/**
 * How the pushes to a partner stand: as the partner sees it (D41, D54, docs/portal.md), and as operators do
 * (docs/operators.md, "The endpoint"). Reads the store.
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import { OperatorError } from '../../../../program/operations/operator-context.ts';
import { eventIdOf, eventNumberOf } from '../../../../seal/event-ids.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { readAttempts, readLastFailures } from '../sql/attempts.ts';
import { readEndpoint } from '../sql/endpoints.ts';
import { readFirstPushes } from '../sql/queue.ts';

const MOST_PUSHES = 50;

interface Store {
  readonly database: Database;
  readonly vault: Vault;
}

/** The endpoint without its path and secrets, and the first events that wait. */
export async function deliveriesOf({ database, vault }: Store, partnerId: PartnerId) {
  const endpoint = await readEndpoint(database, vault, partnerId);
  const pushes = await readFirstPushes(database, partnerId, MOST_PUSHES);
  const settings = endpoint?.settings;
  const host = settings == null || settings === 'unknown_key' ? null : new URL(settings.url).host;
  return {
    endpoint: endpoint && { ...endpoint, host },
    pushes: pushes.map(({ number, ...push }) => ({ ...push, eventId: eventIdOf(vault, partnerId, number) })),
  };
}

/**
 * The endpoint, the first events that wait, with why their last attempt failed, and the newest attempts; `eventId`: of
 * one event alone. Throws `OperatorError` if it is no event of the partner.
 */
export async function attemptsOf({ database, vault }: Store, partnerId: PartnerId, eventId: string | null) {
  const number = eventId === null ? null : eventNumberOf(vault, partnerId, eventId);
  if (eventId !== null && number === null)
    throw new OperatorError(`this is not the ID of an event of partner ${partnerId}`, 'not_found');
  const endpoint = await readEndpoint(database, vault, partnerId);
  const waiting = await readFirstPushes(database, partnerId, MOST_PUSHES, number);
  const numbers = waiting.map((push) => push.number);
  const failures = numbers.length === 0 ? null : await readLastFailures(database, partnerId, numbers);
  const attempts = await readAttempts(database, partnerId, { number, limit: MOST_PUSHES });
  const named = <T extends { readonly number: number }>({ number, ...rest }: T) => ({
    ...{ eventId: eventIdOf(vault, partnerId, number) },
    ...rest,
  });
  return {
    endpoint,
    pushes: waiting.map((push) => ({ ...named(push), lastFailure: failures?.get(push.number) ?? null })),
    attempts: attempts.map(named),
  };
}
