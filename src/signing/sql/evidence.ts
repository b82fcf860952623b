/** The evidence of signatures: for each application a chain of rows, in which each MAC covers the row before (D46). */
import { createHmac } from 'node:crypto';
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Session, Transaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { type EvidenceEntry, type EvidenceKind, evidenceFault } from '../rules/evidence.ts';

/** A row as it is stored. */
export interface Evidence {
  /** 1, 2, 3 and so on. */
  readonly number: number;
  readonly kind: EvidenceKind;
  /** The database's time in microseconds, as the MAC covers it. */
  readonly recordedAt: string;
  readonly happenedAt: string | null;
  /** JSON, whose bytes the MAC covers. */
  readonly facts: string;
  readonly keyNumber: number;
  readonly mac: Buffer;
}

const LABEL = 'ventanilla contract evidence';
const UTC = `AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const COLUMNS = `number, kind, to_char(recorded_at ${UTC} AS recorded_at, to_char(happened_at ${UTC} AS happened_at, facts,
  key_number, mac`;
/** Until the end of the transaction. No other lock of the service is by a single number. */
const LOCK = 'SELECT pg_advisory_xact_lock($1::bigint)';
const HEAD = `
  SELECT h.number, h.mac, to_char(clock_timestamp() ${UTC} AS now
  FROM (SELECT 1) AS one
  LEFT JOIN LATERAL (
    SELECT e.number, e.mac FROM contract_evidence e WHERE e.application_id = $1 ORDER BY e.number DESC LIMIT 1) AS h ON true`;
const ADD = `
  INSERT INTO contract_evidence (application_id, number, recorded_at, kind, happened_at, facts, key_number, mac)
  SELECT $1, g.number, $2::timestamptz, g.kind, g.happened_at::timestamptz, g.facts, $3, g.mac
  FROM unnest($4::integer[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    AS g(number, kind, happened_at, facts, mac)`;
/** So that the retention finds evidence without a contract. */
const BEGUN = `
  INSERT INTO loan_contracts (application_id, state, elapsed_ms) SELECT $1, 'begun', elapsed_ms()
  WHERE NOT EXISTS (SELECT FROM loan_contracts c WHERE c.application_id = $1 AND c.state <> 'dropped')`;
const ALL = `SELECT ${COLUMNS} FROM contract_evidence WHERE application_id = $1 ORDER BY number`;

/**
 * Adds entries to the end of an application's chain, in the caller's transaction. Other calls for the application wait
 * until the transaction ends. Throws a `RangeError` for facts that are no hashes, ids, times or words.
 */
export async function addEvidence(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  entries: readonly EvidenceEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await session.query(LOCK, [id]);
  const { rows } = await session.query<{ number: number | null; mac: Buffer | null; now: string }>(HEAD, [
    id,
  ]);
  const [head] = rows;
  if (head === undefined) throw new Error('no answer');
  if (head.number === null) await session.query(BEGUN, [id]);
  const keyNumber = vault.derivedKeys(LABEL).length - 1;
  let before = head.mac ?? GENESIS;
  const made = entries.map(({ kind, at, facts }, index): Evidence => {
    const fault = evidenceFault(facts);
    if (fault !== null) throw new RangeError(`the facts of ${kind}: ${fault}`);
    const row = {
      number: (head.number ?? 0) + index + 1,
      kind,
      recordedAt: head.now,
      // In the form that the database writes.
      happenedAt: at === null ? null : at.toISOString().replace('Z', '000Z'),
      facts: JSON.stringify(facts),
      keyNumber,
    };
    const mac = macOf(vault, id, before, row);
    if (mac === null) throw new Error('no key');
    before = mac;
    return { ...row, mac };
  });
  await session.query(ADD, [
    ...[id, head.now, keyNumber],
    made.map(({ number }) => number),
    made.map(({ kind }) => kind),
    made.map(({ happenedAt }) => happenedAt),
    made.map(({ facts }) => facts),
    made.map(({ mac }) => mac),
  ]);
}

/** What the first row follows. */
export const GENESIS = Buffer.alloc(32);

/** The MAC of a row after the row with the MAC `before`; null where this process has no such key. */
export function macOf(
  vault: Vault,
  id: ApplicationId,
  before: Buffer,
  { number, kind, recordedAt, happenedAt, facts, keyNumber }: Omit<Evidence, 'mac'>,
): Buffer | null {
  const key = vault.derivedKeys(LABEL)[keyNumber];
  if (key === undefined) return null;
  const text = JSON.stringify([id, number, kind, recordedAt, happenedAt, facts, keyNumber]);
  return createHmac('sha256', key).update(before).update(text).digest();
}

/** The evidence of an application, in its order. */
export async function readEvidence(session: Session, id: ApplicationId): Promise<Evidence[]> {
  const { rows } = await session.query<{
    number: number;
    kind: EvidenceKind;
    recorded_at: string;
    happened_at: string | null;
    facts: string;
    key_number: number;
    mac: Buffer;
  }>(ALL, [id]);
  return rows.map((row) => ({
    number: row.number,
    kind: row.kind,
    recordedAt: row.recorded_at,
    happenedAt: row.happened_at,
    facts: row.facts,
    keyNumber: row.key_number,
    mac: row.mac,
  }));
}

/** Whether there is any evidence: its chains depend on the index key. */
export async function hasEvidence(session: Session): Promise<boolean> {
  return (await session.query('SELECT FROM contract_evidence LIMIT 1')).rows.length > 0;
}
