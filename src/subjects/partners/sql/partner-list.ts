/**
 * Reads the partners a page at a time, with what they use of their quota and what was refused lately. Reads `partners`,
 * `api_keys`, `key_outcomes`, `key_totals` and the usage ledger.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { isOwnKey, KEY_FACTS, type KeyFacts } from './key-macs.ts';
import { PARTNER_COLUMNS, type Partner } from './partners.ts';

/** A partner in the list. */
export interface ListedPartner extends Partner {
  /** The registrations of the last 24 hours, over all keys (D18). */
  readonly used24h: number;
  /** The applications that were refused in the hours that began in the last 24 hours. */
  readonly refused24h: number;
  readonly liveKeys: number;
  /** The largest cap of a live key for production; null: one has none, or there is no such key. */
  readonly dailyCap: number | null;
}

/** Served by the primary keys of `partners` and of `key_outcomes`. */
const PAGE = `
  WITH page AS (
    SELECT ${PARTNER_COLUMNS} FROM partners
    WHERE ($1::bigint IS NULL OR id < $1) AND ($2::bigint IS NULL OR id = $2) ORDER BY id DESC LIMIT $3)
  SELECT p.*, coalesce(usage_at(p.id, now()), 0)::float8 AS "used24h",
    coalesce((SELECT sum(o.duplicate + o.over_quota + o.invalid) FROM key_outcomes o
      WHERE o.hour > now() - interval '24 hours'
        AND o.api_key_id IN (SELECT k.id FROM api_keys k WHERE k.partner_id = p.id)), 0)::float8 AS "refused24h"
  FROM page p ORDER BY p.id DESC`;

/** Keys that no request of whose is refused, if this service has written their rows. */
const LIVE_KEYS = `
  SELECT ${KEY_FACTS} FROM api_keys k
  WHERE k.partner_id = ANY ($1::integer[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`;

const LAST_USES = `
  SELECT t.api_key_id AS id, t.used_at AS at FROM key_totals t JOIN api_keys k ON k.id = t.api_key_id
  WHERE k.partner_id = $1 AND t.used_at IS NOT NULL`;

/** When each key of a partner was used last; a key that was not used is left out. */
export async function readLastUses(session: Session, partnerId: PartnerId): Promise<Map<KeyId, Date>> {
  const { rows } = await session.query<{ id: KeyId; at: Date }>(LAST_USES, [partnerId]);
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** The partners before an id (null: the newest ones), newest first; `only`: one partner alone. */
export async function readPartnerPage(
  session: Session,
  vault: Vault,
  { before = null, only = null, limit }: PartnerPlace,
): Promise<ListedPartner[]> {
  type Row = Omit<ListedPartner, 'liveKeys' | 'dailyCap'>;
  const { rows } = await session.query<Row & Record<string, unknown>>(PAGE, [before, only, limit]);
  const { rows: keys } = await session.query<KeyFacts & { mac: Buffer }>(LIVE_KEYS, [
    rows.map(({ id }) => id),
  ]);
  const live = Map.groupBy(
    keys.filter((key) => isOwnKey(vault, key)),
    ({ partnerId }) => partnerId,
  );
  return rows.map((row) => {
    const own = live.get(row.id) ?? [];
    return { ...row, liveKeys: own.length, dailyCap: capOf(own) };
  });
}

interface PartnerPlace {
  readonly before?: PartnerId | null;
  readonly only?: PartnerId | null;
  readonly limit: number;
}

/** Usage is of the partner and a cap of the key, so the largest cap says how much may still be registered. */
function capOf(live: readonly KeyFacts[]): number | null {
  const caps = live.filter(({ environment }) => environment !== 'DEV').map(({ dailyCap }) => dailyCap);
  return caps.length === 0 || caps.includes(null) ? null : Math.max(...(caps as number[]));
}
