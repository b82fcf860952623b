/**
 * The evidence of signatures: for each application a chain of rows, in which each MAC covers the row before (D46;
 * docs/signing.md, "The evidence"). Adds rows to `contract_evidence` and reads them; the facts have no personal data.
 */
import { createHmac } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  type EvidenceEntry,
  type EvidenceKind,
  evidenceFault,
  type NewEvidence,
} from '../../../domain/evidence/evidence.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';

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
const COLUMNS = `number, kind, to_char(recorded_at ${UTC} AS "recordedAt", to_char(happened_at ${UTC} AS "happenedAt",
  facts, key_number AS "keyNumber", mac`;
/**
 * Locks applications until the end of the transaction, the lowest number first. Only this lock of the service has a
 * single number as its key. `elapsed` has one row, and makes the coordinator of a cluster take the locks, whichever
 * machine the session is on.
 */
const LOCK = `
  SELECT pg_advisory_xact_lock(g.id)
  FROM elapsed, (SELECT u.id FROM unnest($1::bigint[]) AS u(id) ORDER BY u.id) AS g`;
/** As the table has it. */
const MOST_NUMBER = 1_000_000;
/**
 * A statement of its own, so that it sees what others wrote before they released the locks. The chain goes on after the
 * last row that leaves room for the new rows ($2). If somebody writes a row at the highest number, the chain can still
 * go on.
 */
const HEADS = `
  SELECT g.id::float8, h.number, h.mac, to_char(clock_timestamp() ${UTC} AS now, elapsed_ms() AS "elapsedMs",
    EXISTS (SELECT FROM loan_contracts c WHERE c.application_id = g.id AND c.state <> 'dropped') AS "hasContract"
  FROM unnest($1::bigint[], $2::integer[]) AS g(id, count)
  LEFT JOIN LATERAL (
    SELECT o.number, o.mac FROM (
      SELECT e.number, e.mac, lead(e.number, 1, ${MOST_NUMBER} + 1) OVER (ORDER BY e.number) AS next
      FROM contract_evidence e WHERE e.application_id = g.id) AS o
    WHERE o.next - o.number > g.count ORDER BY o.number DESC LIMIT 1) AS h ON true`;
const ADD = `
  INSERT INTO contract_evidence (application_id, number, recorded_at, kind, happened_at, facts, key_number, mac)
  SELECT g.id, g.number, g.recorded_at::timestamptz, g.kind, g.happened_at::timestamptz, g.facts, $1, g.mac
  FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[])
    AS g(id, number, recorded_at, kind, happened_at, facts, mac)`;
/** Notes the beginning of a chain, so that the retention finds evidence without a contract. */
const BEGUN = `
  INSERT INTO loan_contracts (application_id, state, elapsed_ms) SELECT g.id, 'begun', $2
  FROM unnest($1::bigint[]) AS g(id)`;
const ALL = `SELECT ${COLUMNS} FROM contract_evidence WHERE application_id = $1 ORDER BY number`;

interface Head {
  readonly id: ApplicationId;
  /** null: the chain is empty. */
  readonly number: number | null;
  readonly mac: Buffer | null;
  readonly now: string;
  readonly elapsedMs: string;
  readonly hasContract: boolean;
}

/**
 * Adds entries to the ends of the chains of applications, in the caller's transaction and in the given order; an
 * application may come more than once. Other calls for these applications wait until the transaction ends. The number
 * of statements does not depend on the number of applications. Throws a `RangeError`, and writes nothing, if the facts
 * hold anything but hashes, ids, times and words.
 */
export async function addEvidence(
  session: Transaction,
  vault: Vault,
  some: readonly NewEvidence[],
): Promise<void> {
  const chains = new Map<ApplicationId, EvidenceEntry[]>();
  for (const { applicationId, entries } of some) {
    for (const { kind, facts } of entries) {
      const fault = evidenceFault(facts);
      if (fault !== null) throw new RangeError(`the facts of ${kind}: ${fault}`);
    }
    if (entries.length === 0) continue;
    chains.set(applicationId, [...(chains.get(applicationId) ?? []), ...entries]);
  }
  if (chains.size === 0) return;
  const ids = [...chains.keys()];
  await session.query(LOCK, [ids]);
  const counts = [...chains.values()].map((entries) => entries.length);
  const { rows: heads } = await session.query<Head>(HEADS, [ids, counts]);
  const begun = heads.flatMap((head) => (head.number === null && !head.hasContract ? [head.id] : []));
  if (begun.length > 0) await session.query(BEGUN, [begun, heads[0]?.elapsedMs]);
  const keyNumber = vault.derivedKeys(LABEL).length - 1;
  const made = heads.flatMap((head) => chained(vault, keyNumber, head, chains.get(head.id) ?? []));
  await session.query(ADD, [
    keyNumber,
    made.map(({ id }) => id),
    made.map(({ number }) => number),
    made.map(({ recordedAt }) => recordedAt),
    made.map(({ kind }) => kind),
    made.map(({ happenedAt }) => happenedAt),
    made.map(({ facts }) => facts),
    made.map(({ mac }) => mac),
  ]);
}

/** The rows of entries that follow the head of a chain. */
function chained(vault: Vault, keyNumber: number, head: Head, entries: readonly EvidenceEntry[]) {
  const { id } = head;
  let before = head.mac ?? GENESIS;
  return entries.map(({ kind, at, facts }, index): Evidence & { id: ApplicationId } => {
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
    return { id, ...row, mac };
  });
}

/** Stands for the MAC of the row before the first one. */
const GENESIS = Buffer.alloc(32);

/** The MAC of a row that follows the row with the MAC `before`; null: this process lacks the key. */
function macOf(
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

/** The evidence of an application that the service has written, in its order, and what is wrong with the chain. */
export interface EvidenceChain {
  readonly rows: readonly Evidence[];
  /** Empty if the chain is whole. */
  readonly faults: readonly string[];
}

/**
 * Reads the evidence of an application. A row that the service has not written counts as if it were not there, so
 * somebody who writes the database can neither prove nor hide anything. The row after it may follow that row as it is
 * stored, or the last one that fits.
 */
export async function readEvidence(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<EvidenceChain> {
  const rows: Evidence[] = [];
  const faults: string[] = [];
  let last: Pick<Evidence, 'number' | 'mac'> = { number: 0, mac: GENESIS };
  let fitting: Pick<Evidence, 'keyNumber' | 'mac'> = { mac: GENESIS, keyNumber: 0 };
  for (const row of (await session.query<Evidence>(ALL, [id])).rows) {
    const { number, keyNumber } = row;
    const isBehindGap = number > last.number + 1;
    const macs = [last.mac, fitting.mac].map((before) => macOf(vault, id, before, row));
    const fits = keyNumber >= fitting.keyNumber && macs.some((mac) => mac?.equals(row.mac));
    if (isBehindGap) faults.push(`row ${last.number + 1} is missing, or row ${number} was put in`);
    else if (macs.includes(null)) faults.push(`row ${number} needs another INDEX_KEY`);
    else if (!fits) faults.push(`row ${number} was changed or put in`);
    if (fits) {
      rows.push(row);
      fitting = row;
    }
    last = row;
  }
  return { rows, faults };
}

/** Whether there is any evidence. Its chains depend on the index key. */
export async function hasEvidence(session: Session): Promise<boolean> {
  return (await session.query('SELECT FROM contract_evidence LIMIT 1')).rows.length > 0;
}
