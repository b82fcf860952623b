/**
 * Seals the envelopes of batches again with another data key, and counts those of a data key (docs/keys.md, "The data
 * key"). Reads and writes `batches`.
 */
import {
  type BatchId,
  batchesOfPartition,
  partitionOfBatch,
  toBatchId,
} from '../../../domain/application/ids.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { byteaArray } from '../../../ground/postgres/gathering.ts';
import { eachApart } from '../../../ground/postgres/row-fault.ts';
import { SEAL_HEAD_BYTES, type Vault } from '../../../seal/vault.ts';
import type { ResealStep, SealedRows } from '../../../seal/witness.ts';
import { isIntact, resealEnvelope } from './envelope.ts';
import { partitionsDown, partitionsEnd } from './partition-runs.ts';
import { withTime } from './partitions.ts';
import { EnvelopeTurns } from './read-envelopes.ts';

/**
 * The batches that a step looks at, and the bytes of envelopes that it reads. The driver needs three times these bytes.
 */
const LOOK_AT = 1_000;
const MOST_BYTES = 1024 * 1024;

const NEXT = `SELECT id FROM batches WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${LOOK_AT}`;
/**
 * Those of other keys between two batches, in their order; without the envelope from $4 bytes on. If an envelope is
 * stored outside of its row and is not returned, only its first piece is read. A range instead of a list of ids takes
 * half of the time of the server.
 */
const READ = `
  SELECT o.id, o.seal_id, o.applications, CASE WHEN o.bytes_before < $4 THEN o.envelope END AS envelope
  FROM (
    SELECT b.id, b.seal_id, cardinality(b.id_numbers) AS applications, b.envelope,
      sum(octet_length(b.envelope)) OVER (ORDER BY b.id) - octet_length(b.envelope) AS bytes_before
    FROM batches b WHERE b.id BETWEEN $1 AND $2 AND substring(b.envelope FROM 1 FOR 1) <> $3) AS o
  ORDER BY o.id`;
/** In the order of the ids, as an erasure does. A cluster refuses locks in a statement about several of its shards. */
const LOCK = 'SELECT count(*) FROM lock_batches($1::bigint[])';
/** A nonce is never used twice, so an envelope with another head was written meanwhile. */
const WRITE = `
  UPDATE batches b SET envelope = g.envelope
  FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, head, envelope)
  WHERE b.id BETWEEN $5 AND $6 AND b.id = g.id AND substring(b.envelope FROM 1 FOR ${SEAL_HEAD_BYTES}) = g.head
    AND may_seal($4)`;

interface SealedBatch {
  readonly id: BatchId;
  readonly seal_id: string;
  readonly envelope: Buffer;
  readonly applications: number;
}

/** `envelope` is null if the step has read enough. */
type FoundBatch = Omit<SealedBatch, 'envelope'> & { readonly envelope: Buffer | null };

/**
 * One step of a reseal (`SealedKind.reseal`), in the order of the batches: it goes on from the number of a batch. An
 * envelope of a data key that the vault lacks counts as one that does not open.
 */
export async function resealEnvelopes(database: Database, vault: Vault, text: string): Promise<ResealStep> {
  const from = toBatchId(text === '' ? 0 : text);
  const { before } = batchesOfPartition(partitionOfBatch(from));
  const ids = (await database.query<{ id: BatchId }>(NEXT, [from, before])).rows.map(({ id }) => id);
  const { found, faulty } = await readOthers(database, vault, ids);
  const done = await sealAgain(database, vault, found.filter(isRead));
  const rest = found.find(({ envelope }) => envelope === null);
  const passed = rest === undefined ? faulty : faulty.filter((id) => Number(id) < Number(rest.id));
  return {
    next: rest?.id ?? (await after(database, ids, before)),
    resealed: done.resealed,
    unopened: passed.length + done.unopened,
    applications: done.applications,
  };
}

/** The batches of other keys among some that follow each other, and those whose rows cannot be read. */
async function readOthers(database: Database, vault: Vault, ids: readonly BatchId[]) {
  const found: FoundBatch[] = [];
  const faulty: BatchId[] = [];
  let bytes = 0;
  await eachApart(
    ids,
    async (some) => {
      const values = [some[0], some.at(-1), Buffer.of(vault.sealingKey.id), MOST_BYTES - bytes];
      const { rows } = await database.query<FoundBatch>(READ, values);
      found.push(...rows);
      for (const { envelope } of rows) bytes += envelope?.length ?? 0;
    },
    (id) => void faulty.push(id),
  );
  return { found, faulty };
}

function isRead(batch: FoundBatch): batch is SealedBatch {
  return batch.envelope !== null;
}

/** Where the next step begins, after these batches, which are all sealed; null: they are the last ones. */
async function after(
  database: Database,
  ids: readonly BatchId[],
  endOfPartition: BatchId,
): Promise<string | null> {
  if (ids.length === LOOK_AT) return `${Number(ids.at(-1)) + 1}`;
  return Number(endOfPartition) >= (await partitionsEnd(database)) ? null : endOfPartition;
}

async function sealAgain(database: Database, vault: Vault, batches: readonly SealedBatch[]) {
  const written: { id: BatchId; head: Buffer; envelope: Buffer }[] = [];
  let applications = 0;
  const turns = new EnvelopeTurns();
  for (const { id, seal_id, envelope, applications: some } of batches) {
    const again = tryToReseal(vault, seal_id, envelope);
    if (again === null) continue;
    written.push({ id, head: envelope.subarray(0, SEAL_HEAD_BYTES), envelope: again });
    applications += some;
    await turns.after(some);
  }
  const unopened = batches.length - written.length;
  if (written.length === 0) return { resealed: 0, unopened, applications };
  const ids = written.map(({ id }) => id);
  const values = [
    ids,
    byteaArray(written, ({ head }) => head),
    byteaArray(written, ({ envelope }) => envelope),
    ...[vault.sealingKey.id, ids[0], ids.at(-1)],
  ];
  const { rowCount } = await inTransaction(database, async (session) => {
    await session.query(LOCK, [ids]);
    return session.query(WRITE, values);
  });
  return { resealed: rowCount ?? 0, unopened, applications };
}

function tryToReseal(vault: Vault, sealId: string, envelope: Buffer): Buffer | null {
  try {
    return resealEnvelope(vault, sealId, envelope);
  } catch {
    return null;
  }
}

/** To read a partition of eight million batches of one application takes many seconds. */
const COUNT_TIMEOUT_MS = 5 * 60_000;
const COUNT = `
  SELECT count(*) AS rows FROM batches WHERE id >= $2 AND id < $3 AND substring(envelope FROM 1 FOR 1) = $1`;
/** So many envelopes are opened, to find the damaged ones. After a reseal only damaged ones are left. */
const MOST_OPENED = 1_000;
const IDS = `
  SELECT id FROM batches WHERE id >= $2 AND id < $3 AND substring(envelope FROM 1 FOR 1) = $1 LIMIT ${MOST_OPENED}`;
const BY_ID =
  'SELECT id, seal_id, envelope FROM batches WHERE id = ANY ($1::bigint[]) AND envelope IS NOT NULL';

/** The envelopes that a data key has sealed. Reads every batch of the store, partition by partition. */
export async function envelopesOf(database: Database, vault: Vault, keyId: number): Promise<SealedRows> {
  let rows = 0;
  const ids: BatchId[] = [];
  for await (const { from, before } of partitionsDown(database)) {
    const values = [Buffer.of(keyId), from, before];
    const [found] = await withTime<{ rows: string }>(database, COUNT_TIMEOUT_MS, COUNT, values);
    rows += Number(found?.rows);
    if (found?.rows === '0' || rows > MOST_OPENED) continue;
    const some = await withTime<{ id: BatchId }>(database, COUNT_TIMEOUT_MS, IDS, values);
    ids.push(...some.map(({ id }) => id));
  }
  if (rows > MOST_OPENED || !vault.hasDataKey(keyId)) return { needing: rows, damaged: 0 };
  let damaged = 0;
  const check = async (some: readonly BatchId[]) => {
    const { rows: batches } = await database.query<Omit<SealedBatch, 'applications'>>(BY_ID, [some]);
    for (const { seal_id, envelope } of batches) if (!isIntact(vault, seal_id, envelope)) damaged += 1;
  };
  for (const id of ids) {
    await eachApart([id], check, () => {
      damaged += 1;
    });
  }
  return { needing: rows - damaged, damaged };
}
