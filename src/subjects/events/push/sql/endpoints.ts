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

interface EndpointRow {
  partner_id: PartnerId;
  sealed: Buffer;
  set_at: Date;
  conversation_events: boolean;
  overlap_ms: string;
  disabled_at: Date | null;
  disabled_reason: DisabledReason | null;
  broken_at: Date | null;
  probe_at: Date | null;
  last_failure: PushFailure | null;
  last_failure_at: Date | null;
  last_success_at: Date | null;
  waiting: string;
  oldest_at: Date | null;
}

/** How long the previous secret signs too, in milliseconds. */
const OVERLAP_MS = DAY_MS;

/** If `rotated_ms` is NULL, this is 0. */
const OVERLAP = `greatest(coalesce(e.rotated_ms + ${OVERLAP_MS} - elapsed_ms(), 0), 0)`;
const READ = `
  SELECT e.partner_id, e.sealed, e.set_at, e.conversation_events, ${OVERLAP} AS overlap_ms, e.disabled_at, e.disabled_reason, e.broken_at,
    e.probe_at, e.last_failure, e.last_failure_at, e.last_success_at,
    (SELECT count(*) FROM pushes q WHERE q.partner_id = e.partner_id) AS waiting,
    (SELECT v.at FROM partner_events v WHERE v.partner_id = e.partner_id
      AND v.number = (SELECT min(q.number) FROM pushes q WHERE q.partner_id = e.partner_id)) AS oldest_at
  FROM partner_endpoints e WHERE e.partner_id = $1`;

/** The endpoint of a partner; null if it never had one. */
export async function readEndpoint(
  database: Database,
  vault: Vault,
  partnerId: PartnerId,
): Promise<Endpoint | null> {
  const { rows } = await database.query<EndpointRow>(READ, [partnerId]);
  const [row] = rows;
  if (row === undefined) return null;
  return {
    partnerId: row.partner_id,
    settings: settingsOf(vault, row.partner_id, row.sealed),
    setAt: row.set_at,
    conversationEvents: row.conversation_events,
    overlapMs: Number(row.overlap_ms),
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
    brokenAt: row.broken_at,
    probeAt: row.probe_at,
    lastFailure: row.last_failure,
    lastFailureAt: row.last_failure_at,
    lastSuccessAt: row.last_success_at,
    waiting: Number(row.waiting),
    oldestAt: row.oldest_at,
  };
}

const READ_TARGETS = `
  SELECT e.partner_id, e.sealed, ${OVERLAP} AS overlap_ms FROM partner_endpoints e
  WHERE e.partner_id = ANY ($1::integer[])`;

/** The targets of these partners; null for one that is damaged, and left out if this process does not have its key. */
export async function readTargets(
  database: Database,
  vault: Vault,
  partnerIds: readonly PartnerId[],
): Promise<Map<PartnerId, PushTarget | null>> {
  const { rows } = await database.query<Pick<EndpointRow, 'partner_id' | 'sealed' | 'overlap_ms'>>(
    READ_TARGETS,
    [partnerIds],
  );
  const targets = new Map<PartnerId, PushTarget | null>();
  for (const { partner_id: partnerId, sealed, overlap_ms: overlapMs } of rows) {
    const settings = settingsOf(vault, partnerId, sealed);
    if (settings === 'unknown_key') continue;
    targets.set(partnerId, settings && targetOf(settings, Number(overlapMs)));
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
/** The endpoint begins anew: no failure, not broken, not disabled. */
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
