/**
 * Reads and changes the endpoints that partner events are pushed to (D41; docs/events.md, "Push"). URL and signing
 * secrets are sealed together. Reads and writes `partner_endpoints` and `pushes`, reads `partner_events`.
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { DAY_MS } from '../../../../ground/base/clock.ts';
import { UnknownDataKeyError } from '../../../../ground/base/registration-failure.ts';
import { type Database, inTransaction, type Session } from '../../../../ground/postgres/database.ts';
import { requireLiveKey } from '../../../../seal/data-keys.ts';
import type { Vault } from '../../../../seal/vault.ts';
import type { DisabledReason, PushFailure } from '../rules/failures.ts';
import {
  type EndpointSettings,
  openSettings,
  type PushTarget,
  sealSettings,
  targetOf,
} from './endpoint-settings.ts';

/**
 * Why nothing is pushed: an operator said so, the endpoint said that it is gone, or no push succeeded for three days.
 */

/** An endpoint as operators see it. */
export interface Endpoint {
  readonly partnerId: PartnerId;
  /** null if the settings are damaged. `unknown_key`: this process does not have their data key. */
  readonly settings: EndpointSettings | null | 'unknown_key';
  readonly setAt: Date;
  /** The events of conversations are pushed too (D47). */
  readonly conversationEvents: boolean;
  /**
   * How long pushes are still signed with the previous secret too, in milliseconds of elapsed time; 0: not any more.
   */
  readonly overlapMs: number;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  readonly brokenAt: Date | null;
  readonly probeAt: Date | null;
  readonly lastFailure: PushFailure | null;
  readonly lastFailureAt: Date | null;
  readonly lastSuccessAt: Date | null;
  /** Events that wait for their push, or whose push is under way. */
  readonly waiting: number;
  /** When the oldest of these events happened. */
  readonly oldestAt: Date | null;
}

type StoredEndpoint = Omit<Endpoint, 'settings'> & { readonly sealed: Buffer };

/** How long the previous secret signs too, in milliseconds. */
const OVERLAP_MS = DAY_MS;

/** If `rotated_ms` is NULL, this is 0. */
const OVERLAP = `greatest(coalesce(e.rotated_ms + ${OVERLAP_MS} - elapsed_ms(), 0), 0)::float8 AS "overlapMs"`;
const READ = `
  SELECT e.partner_id AS "partnerId", e.sealed, e.set_at AS "setAt", e.conversation_events AS "conversationEvents", ${OVERLAP},
    e.disabled_at AS "disabledAt", e.disabled_reason AS "disabledReason", e.broken_at AS "brokenAt",
    e.probe_at AS "probeAt", e.last_failure AS "lastFailure", e.last_failure_at AS "lastFailureAt",
    e.last_success_at AS "lastSuccessAt",
    (SELECT count(*) FROM pushes q WHERE q.partner_id = e.partner_id)::float8 AS waiting,
    (SELECT v.at FROM partner_events v WHERE v.partner_id = e.partner_id
      AND v.number = (SELECT min(q.number) FROM pushes q WHERE q.partner_id = e.partner_id)) AS "oldestAt"
  FROM partner_endpoints e WHERE e.partner_id = $1`;

/** The endpoint of a partner; null if it never had one. */
export async function readEndpoint(
  database: Database,
  vault: Vault,
  partnerId: PartnerId,
): Promise<Endpoint | null> {
  const [row] = (await database.query<StoredEndpoint>(READ, [partnerId])).rows;
  if (row === undefined) return null;
  const { sealed, ...endpoint } = row;
  return { ...endpoint, settings: settingsOf(vault, partnerId, sealed) };
}

const READ_TARGETS = `
  SELECT e.partner_id AS "partnerId", e.sealed, ${OVERLAP} FROM partner_endpoints e
  WHERE e.partner_id = ANY ($1::integer[])`;

/** The targets of these partners; null for one that is damaged, and left out if this process does not have its key. */
export async function readTargets(
  database: Database,
  vault: Vault,
  partnerIds: readonly PartnerId[],
): Promise<Map<PartnerId, PushTarget | null>> {
  type Row = Pick<StoredEndpoint, 'partnerId' | 'sealed' | 'overlapMs'>;
  const { rows } = await database.query<Row>(READ_TARGETS, [partnerIds]);
  const targets = new Map<PartnerId, PushTarget | null>();
  for (const { partnerId, sealed, overlapMs } of rows) {
    const settings = settingsOf(vault, partnerId, sealed);
    if (settings === 'unknown_key') continue;
    targets.set(partnerId, settings && targetOf(settings, overlapMs));
  }
  return targets;
}

function settingsOf(vault: Vault, partnerId: PartnerId, sealed: Buffer): Endpoint['settings'] {
  try {
    return openSettings(vault, partnerId, sealed);
  } catch (error) {
    if (error instanceof UnknownDataKeyError) return 'unknown_key';
    throw error;
  }
}

const LOCK = 'SELECT sealed FROM partner_endpoints WHERE partner_id = $1 FOR NO KEY UPDATE';
/** Waits for another session that adds the same endpoint. */
const ADD = `
  INSERT INTO partner_endpoints (partner_id, sealed, set_at, conversation_events)
  VALUES ($1, $2, now(), coalesce($3, false)) ON CONFLICT DO NOTHING`;
/** The endpoint begins again: no failure, not broken, not disabled. */
const SET_AGAIN = `
  UPDATE partner_endpoints SET sealed = $2, set_at = now(), version = version + 1,
    conversation_events = coalesce($3, conversation_events), disabled_at = NULL,
    disabled_reason = NULL, failures = 0, failing_ms = NULL, broken_at = NULL, probes = 0, probe_at = NULL
  WHERE partner_id = $1`;
/** Pushes that wait, or are under way to the earlier URL, become due now for the new one. */
const MAKE_DUE = `
  UPDATE pushes SET due_at = now(), set_at = now(), leased_until = NULL
  WHERE partner_id = $1 AND (due_at > now() OR leased_until IS NOT NULL)`;
const ROTATE =
  'UPDATE partner_endpoints SET sealed = $2, rotated_ms = elapsed_ms() WHERE partner_id = $1 RETURNING partner_id';
const DISABLE = `
  UPDATE partner_endpoints SET disabled_at = now(), disabled_reason = 'operator', broken_at = NULL,
    probe_at = NULL
  WHERE partner_id = $1 AND disabled_at IS NULL`;

/**
 * Sets the URL of a partner's endpoint and enables it. Keeps the secret of an existing endpoint, and then returns null.
 * Uses and returns `newSecret` for a new endpoint, and for one that cannot be opened any more.
 */
export function writeEndpoint(
  database: Database,
  vault: Vault,
  partnerId: PartnerId,
  {
    url,
    newSecret,
    conversationEvents,
  }: { url: URL; newSecret: string; conversationEvents?: boolean | null },
): Promise<string | null> {
  const made = { url: url.href, secret: newSecret, previousSecret: null };
  return inTransaction(database, async (session) => {
    await requireLiveKey(session, vault);
    const added = await session.query(ADD, [
      partnerId,
      sealSettings(vault, partnerId, made),
      conversationEvents,
    ]);
    if (added.rowCount === 1) return newSecret;
    const { rows } = await session.query<{ sealed: Buffer }>(LOCK, [partnerId]);
    const known = rows[0] === undefined ? null : openSettings(vault, partnerId, rows[0].sealed);
    const settings = { ...(known ?? made), url: url.href };
    await session.query(SET_AGAIN, [partnerId, sealSettings(vault, partnerId, settings), conversationEvents]);
    await session.query(MAKE_DUE, [partnerId]);
    return known === null ? newSecret : null;
  });
}

/** Gives the endpoint another secret; the present one signs too for a day. False if there is no readable endpoint. */
export function rotateSecret(
  database: Database,
  vault: Vault,
  partnerId: PartnerId,
  newSecret: string,
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    await requireLiveKey(session, vault);
    const { rows } = await session.query<{ sealed: Buffer }>(LOCK, [partnerId]);
    const known = rows[0] === undefined ? null : openSettings(vault, partnerId, rows[0].sealed);
    if (known === null) return false;
    const next = { url: known.url, secret: newSecret, previousSecret: known.secret };
    await session.query(ROTATE, [partnerId, sealSettings(vault, partnerId, next)]);
    return true;
  });
}

/** Stops the pushes of a partner. False if the endpoint is disabled already, or there is none. */
export async function disableEndpoint(session: Session, partnerId: PartnerId): Promise<boolean> {
  return (await session.query(DISABLE, [partnerId])).rowCount === 1;
}
