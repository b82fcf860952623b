/**
 * Counts the outcomes of each key's applications, by hour of the database's clock (D39; docs/refusals.md). No personal
 * data. Writes `key_outcomes` and `key_totals` by `add_key_outcomes`, reads them with `api_keys` and `partners`.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import type { Database } from '../../../ground/postgres/database.ts';

/** Numbers of applications, named as their outcomes are; the last three count requests. */
export interface OutcomeCounts {
  registered: number;
  duplicate: number;
  over_quota: number;
  invalid: number;
  /** Requests with the key after its end, or for the other environment. */
  unauthorized: number;
  /** Batches that registered nothing and whose answer is remembered (D36). */
  remembered: number;
  /** Such answers that were forgotten early, because the key had newer ones. */
  forgotten: number;
}

/** The outcomes of a key in one hour. */
export interface KeyOutcomes extends OutcomeCounts {
  readonly keyId: KeyId;
  readonly hour: Date;
}

const COLUMNS = `o.api_key_id AS "keyId", o.hour, o.registered::float8, o.duplicate::float8, o.over_quota::float8,
  o.invalid::float8, o.unauthorized::float8, o.remembered::float8, o.forgotten::float8`;
const ADD = `SELECT ${COLUMNS} FROM add_key_outcomes($1, $2, $3, $4, $5, $6, $7, $8) AS o`;

/** Adds to the running hour of keys. Returns the hours that look like a sweep since this call, over all processes. */
export async function addKeyOutcomes(
  database: Database,
  counts: ReadonlyMap<KeyId, OutcomeCounts>,
): Promise<KeyOutcomes[]> {
  const given = [...counts.values()];
  const { rows } = await database.query<KeyOutcomes>(ADD, [
    [...counts.keys()],
    given.map(({ registered }) => registered),
    given.map(({ duplicate }) => duplicate),
    given.map((one) => one.over_quota),
    given.map(({ invalid }) => invalid),
    given.map(({ unauthorized }) => unauthorized),
    given.map(({ remembered }) => remembered),
    given.map(({ forgotten }) => forgotten),
  ]);
  return rows;
}

/** An hour in which applications or requests of a key were refused. */
export interface KeyRefusals extends KeyOutcomes {
  readonly hint: string;
  readonly partner: { readonly id: PartnerId; readonly name: string };
  /** When the hour first looked like a sweep; null if it does not. */
  readonly sweepAt: Date | null;
}

/** Most hours in memory at once. */
const CHUNK = 1_000;

const LIST = `
  SELECT ${COLUMNS}, k.hint, json_build_object('id', p.id, 'name', p.name) AS partner, o.sweep_at AS "sweepAt"
  FROM key_outcomes o JOIN api_keys k ON k.id = o.api_key_id JOIN partners p ON p.id = k.partner_id
  WHERE o.duplicate + o.over_quota + o.invalid + o.unauthorized > 0
    AND ($1::bigint IS NULL OR k.partner_id = $1) AND ($2::bigint IS NULL OR k.id = $2)
    AND ($3::timestamptz IS NULL OR (o.hour, o.api_key_id) < ($3, $4::integer))
  ORDER BY o.hour DESC, o.api_key_id DESC LIMIT ${CHUNK}`;

/** The hours with refusals, newest first: of a partner's keys, of one key, or of all. */
export async function* readKeyRefusals(
  database: Database,
  { partnerId, keyId }: { readonly partnerId?: PartnerId | undefined; readonly keyId?: KeyId | undefined },
): AsyncGenerator<KeyRefusals, void, undefined> {
  for (let last: KeyRefusals | undefined; ; ) {
    const { rows }: { rows: KeyRefusals[] } = await database.query<KeyRefusals>(LIST, [
      partnerId ?? null,
      keyId ?? null,
      last?.hour ?? null,
      last?.keyId ?? null,
    ]);
    yield* rows;
    if (rows.length < CHUNK) return;
    last = rows.at(-1);
  }
}
