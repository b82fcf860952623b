/**
 * Makes the blind indexes of the applications again when their key or their form changes (docs/keys.md, "The index
 * key"; D11). Opens the envelopes of `batches` by the vault; writes `batches`, `open_phones`, `closed_segments`,
 * `look_up_buckets` and `application_events`.
 */
import {
  type BatchId,
  batchesOfPartition,
  partitionOfBatch,
  toBatchId,
} from '../../../domain/application/ids.ts';
import { knownPhone } from '../../../domain/phone/phone.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { takeIds } from '../../../ground/postgres/ids.ts';
import {
  formerIdNumberIndexOf,
  idNumberIndexOf,
  phoneIndexOf,
  toBigint,
} from '../../../seal/blind-indexes.ts';
import {
  type MovePhones,
  type Reindexing,
  type ReindexStep,
  type Remaking,
  reindexColumn,
} from '../../../seal/reindex.ts';
import type { Vault } from '../../../seal/vault.ts';
import { batchesOfNoKey } from './damaged-envelopes.ts';
import { isRecord, recordAt } from './envelope.ts';
import { partitionsEnd } from './partition-runs.ts';
import { eachEnvelope, type OpenedColumns } from './read-envelopes.ts';

/** On a cluster the index decides on which machine a row is, so it cannot be changed in place. */
const OPEN_PHONES = {
  read: 'SELECT phone_index AS index FROM open_phones',
  write: `
    INSERT INTO open_phones (phone_index, application_id)
    SELECT g.after, o.application_id FROM open_phones o
    JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON g.before = o.phone_index`,
  remove: 'DELETE FROM open_phones WHERE phone_index = ANY ($1::bigint[])',
};
/**
 * The application that holds a phone keeps it. If phones of several others become one, the oldest application takes it.
 */
const TAKE = `
  INSERT INTO open_phones (phone_index, application_id)
  SELECT g.after, o.application_id FROM open_phones o
  JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON g.before = o.phone_index
  ORDER BY o.application_id
  ON CONFLICT (phone_index) DO NOTHING`;
const LEAVE = 'DELETE FROM open_phones WHERE phone_index = ANY ($1::bigint[]) RETURNING application_id AS id';
const HOLDERS = 'SELECT application_id AS id FROM open_phones WHERE phone_index = ANY ($1::bigint[])';
const STATUSES = 'SELECT a.id, a.status FROM applications_of($1) AS a';
const NOTE = `
  INSERT INTO application_events (id, application_id, at, actor, action, from_status, to_status, reason)
  SELECT u.event_id, u.id, clock_timestamp(), 'ventanilla', 'free_phone', u.status, u.status, $4
  FROM unnest($1::bigint[], $2::bigint[], $3::application_status[]) AS u(event_id, id, status)`;
const FREED = 'the phone is one with that of another open application, read by the plan of its country (D11)';

const READ = `
  SELECT id, phones, id_numbers FROM batches WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1000`;
/** $1: batches; $2 to $4: the batch, the phone and the ID number of each of their positions. */
const WRITE = `
  UPDATE batches b SET phones = g.phones, id_numbers = g.id_numbers
  FROM (
    SELECT u.id, array_agg(u.phone ORDER BY u.n) AS phones, array_agg(u.id_number ORDER BY u.n) AS id_numbers
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS u(id, phone, id_number, n) GROUP BY u.id
  ) AS g
  WHERE b.id = ANY ($1::bigint[]) AND b.id = g.id`;
/** Most reads of one step, and so what a killed step has to do again. */
const READS = 50;
/** The upkeep fills the buckets again; until then a search reads all batches. */
const EMPTY_BUCKETS = 'DELETE FROM look_up_buckets';
const FILL_AGAIN = 'UPDATE closed_segments SET in_buckets = false';

/** The index of an erased ID number (`erased_index` of the database). */
const ERASED = '0';

interface Row {
  readonly id: BatchId;
  readonly phones: readonly (string | null)[];
  readonly id_numbers: readonly (string | null)[];
}

/** The indexes of one position; null if there is no application, or no index of its phone. */
interface Indexes {
  readonly phone: string | null;
  readonly idNumber: string | null;
}

/** The kinds of blind indexes of applications. A step of the batches continues from the number of a batch. */
export const APPLICATION_REINDEXINGS: readonly Reindexing[] = [
  {
    name: 'open phones',
    step: async (session, { again }) => ({
      next: null,
      written: await reindexColumn(session, again, OPEN_PHONES),
    }),
    movePhones: moveOpenPhones,
  },
  { name: 'batches', step: reindexBatches, tellsMoves: true },
  {
    name: 'look-up buckets',
    step: async (session) => {
      await session.query(EMPTY_BUCKETS);
      await session.query(FILL_AGAIN);
      return { next: null, written: 0 };
    },
  },
];

/**
 * If another application holds the phone by then, an open application stays open and holds no phone, as after
 * `application free-phone`. Its history says so.
 */
async function moveOpenPhones(...[session, before, after]: Parameters<MovePhones>): Promise<void> {
  await session.query(TAKE, [before, after]);
  const left = await session.query<{ id: string }>(LEAVE, [before]);
  if (left.rows.length === 0) return;
  const holders = await session.query<{ id: string }>(HOLDERS, [after]);
  const hold = new Set(holders.rows.map(({ id }) => id));
  const freed = left.rows.map(({ id }) => id).filter((id) => !hold.has(id));
  if (freed.length === 0) return;
  const { rows } = await session.query<{ id: string; status: string }>(STATUSES, [freed]);
  const eventIds = await takeIds(session, 'application_events', rows.length);
  await session.query(NOTE, [eventIds, rows.map(({ id }) => id), rows.map(({ status }) => status), FREED]);
}

async function reindexBatches(session: Transaction, remaking: Remaking, text: string): Promise<ReindexStep> {
  let from: BatchId = toBatchId(text === '' ? 0 : text);
  const { before } = batchesOfPartition(partitionOfBatch(from));
  let written = 0;
  let unopened = 0;
  for (let reads = 0; reads < READS && from !== before; reads += 1) {
    const { rows } = await session.query<Row>(READ, [from, before]);
    const last = rows.at(-1);
    from = last === undefined ? before : toBatchId(Number(last.id) + 1);
    if (last === undefined) continue;
    const made = new Map(rows.map((row) => [row.id, withNewKeys(row, remaking)]));
    const moves = new Map<string, string>();
    unopened += await withNewForm(made, remaking, moves);
    const all = [...made].flatMap(([id, positions]) => positions.map((indexes) => ({ id, ...indexes })));
    await session.query(WRITE, [
      rows.map(({ id }) => id),
      all.map(({ id }) => id),
      all.map(({ phone }) => phone),
      all.map(({ idNumber }) => idNumber),
    ]);
    if (moves.size > 0) await remaking.movePhones(session, [...moves.keys()], [...moves.values()]);
    written += 2 * all.length;
  }
  const isOver = Number(from) >= (await partitionsEnd(session));
  return { next: isOver ? null : `${from}`, written, unopened };
}

function withNewKeys({ phones, id_numbers: idNumbers }: Row, { again }: Remaking): Indexes[] {
  const anew = (index: string | null) => (index === null || index === ERASED ? index : again(index));
  return idNumbers.map((idNumber, position) => ({
    phone: anew(phones[position] ?? null),
    idNumber: anew(idNumber),
  }));
}

/**
 * Replaces the indexes of batches by those in the present form, if that is new. Returns how many applications keep
 * theirs, because the record does not open or is not the one that the indexes were made of. Reads with sessions of its
 * own, because a row that cannot be read would end the transaction. Throws `UnknownDataKeyError`.
 */
async function withNewForm(
  made: ReadonlyMap<BatchId, Indexes[]>,
  { opening }: Remaking,
  moves: Map<string, string>,
): Promise<number> {
  if (opening === null) return 0;
  const { database, vault } = opening;
  const unknown: BatchId[] = [];
  const missing = new Set(made.keys());
  let unopened = 0;
  await eachEnvelope(database, vault, [...made.keys()], { fields: ['id_number', 'phone'] }, (id, columns) => {
    missing.delete(id);
    if (columns === 'unknown_key') unknown.push(id);
    unopened += renew(vault, made.get(id) ?? [], columns, moves);
  });
  const damaged = await batchesOfNoKey(database, unknown);
  if (unknown.some((id) => !damaged.has(id))) throw new UnknownDataKeyError();
  for (const id of missing) unopened += renew(vault, made.get(id) ?? [], null, moves);
  return unopened;
}

/**
 * Replaces indexes by those of the records, and adds to `moves` the old and the new index of each changed phone.
 * Returns how many applications keep theirs.
 */
function renew(vault: Vault, indexes: Indexes[], columns: OpenedColumns, moves: Map<string, string>): number {
  let unopened = 0;
  for (const [position, kept] of indexes.entries()) {
    if (kept.idNumber === null || kept.idNumber === ERASED) continue;
    const record = columns === null || columns === 'unknown_key' ? null : recordAt(columns, position);
    const { id_number: idNumber, phone } = isRecord(record) ? record : {};
    // If somebody put another record here, the stored indexes stay, so that the record still does not fit.
    const phoneIndex = phone == null ? null : toBigint(phoneIndexOf(vault, phone));
    const isOfRecord =
      idNumber != null &&
      toBigint(formerIdNumberIndexOf(vault, idNumber)) === kept.idNumber &&
      phoneIndex === kept.phone;
    if (!isOfRecord) {
      unopened += 1;
      continue;
    }
    const read = phone == null ? null : knownPhone(phone);
    const readIndex = read === null ? null : toBigint(phoneIndexOf(vault, read));
    indexes[position] = { phone: readIndex, idNumber: toBigint(idNumberIndexOf(vault, idNumber)) };
    if (phoneIndex !== null && readIndex !== null && readIndex !== phoneIndex)
      moves.set(phoneIndex, readIndex);
  }
  return unopened;
}
