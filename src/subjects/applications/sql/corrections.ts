/**
 * Corrections of what applications say about their person (docs/subject.md, "Correct"): writes the corrected envelope
 * and index, and keeps what was before and after, sealed. Reads and writes `corrections`, and `batches` by
 * `correct_applicant`.
 */
import { v7 as uuidv7 } from 'uuid';
import {
  type CorrectableField,
  type CorrectedValue,
  isPersonalField,
} from '../../../domain/application/correction.ts';
import { type ApplicationId, batchAndPositionOf } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { idNumberIndexOf, toBigint } from '../../../seal/blind-indexes.ts';
import { requireLiveKey } from '../../../seal/data-keys.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type LockedBatch, lockBatches, rewrittenEnvelope } from './locked-batches.ts';

/** What a correction is sealed under. */
export function correctionIdentity(applicationId: string, sealId: string): string {
  return `correction:${applicationId}:${sealId}`;
}

/** A correction as it is shown. */
export interface Correction {
  readonly id: number;
  readonly field: CorrectableField;
  readonly at: Date;
  readonly actor: string;
  /** The values before and after; null: they cannot be read. */
  readonly values: { readonly before: CorrectedValue; readonly after: CorrectedValue } | null;
}

interface Row extends Omit<Correction, 'values'> {
  readonly sealId: string;
  readonly content: Buffer;
}

const READ = `
  SELECT c.id::float8, c.field, c.at, c.actor, c.seal_id AS "sealId", c.content FROM corrections c
  WHERE c.application_id = $1 ORDER BY c.id`;

/** The corrections of an application, the oldest first. */
export async function correctionsOf(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<Correction[]> {
  const { rows } = await session.query<Row>(READ, [id]);
  return rows.map(({ sealId, content, ...row }) => ({ ...row, values: opened(vault, id, sealId, content) }));
}

const INCOMES = `
  SELECT DISTINCT ON (c.application_id) c.application_id::float8 AS id, c.seal_id AS "sealId", c.content
  FROM corrections c WHERE c.application_id = ANY ($1::bigint[]) AND c.field = 'income' ORDER BY c.application_id, c.id DESC`;

/** The corrected monthly incomes of those of these applications that have one that can be read. */
export async function correctedIncomesOf(
  session: Session,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, number>> {
  const { rows } = await session.query<Pick<Row, 'sealId' | 'content'> & { id: ApplicationId }>(INCOMES, [
    ids,
  ]);
  return new Map(
    rows.flatMap(({ id, sealId, content }) => {
      const values = opened(vault, id, sealId, content);
      return values === null ? [] : [[id, Number(values.after)] as const];
    }),
  );
}

function opened(vault: Vault, id: ApplicationId, sealId: string, content: Buffer): Correction['values'] {
  try {
    return JSON.parse(vault.open(content, correctionIdentity(`${id}`, sealId)).toString());
  } catch {
    return null;
  }
}

const HOLD = 'SELECT hold_for_correction()';

/**
 * Locks the batch of an application until the end of the transaction, against erasures and other corrections; null:
 * there is no such batch. A search may not fill look-up buckets meanwhile.
 */
export async function holdForCorrection(
  session: Transaction,
  id: ApplicationId,
): Promise<LockedBatch | null> {
  await session.query(HOLD);
  const [batch] = await lockBatches(session, [batchAndPositionOf(id).batchId]);
  return batch ?? null;
}

const CORRECT = 'SELECT correct_applicant($1, $2, $3)';
const ADD = `
  INSERT INTO corrections (id, application_id, field, actor, seal_id, content)
  SELECT $1, $2, $3, $4, $5, $6::bytea WHERE may_seal(get_byte($6::bytea, 0))`;

/** A correction of an application whose batch the transaction has locked, and whose record it has read. */
export interface NewCorrection {
  readonly field: CorrectableField;
  readonly before: CorrectedValue;
  readonly after: string | number;
  readonly actor: string;
  /** The ID number after the correction. */
  readonly idNumber: string;
}

/**
 * Writes a correction. Returns its id. Throws a `ToldError` if the process seals with a key that is retired, and
 * another error if the envelope does not open.
 */
export async function writeCorrection(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  batch: LockedBatch,
  { field, before, after, actor, idNumber }: NewCorrection,
): Promise<number> {
  await requireLiveKey(session, vault);
  if (isPersonalField(field)) {
    const { position } = batchAndPositionOf(id);
    const envelope = rewrittenEnvelope(vault, batch, (record, at) =>
      at === position ? { ...record, [field]: after } : record,
    );
    await session.query(CORRECT, [id, envelope, toBigint(idNumberIndexOf(vault, idNumber))]);
  }
  const correction = await takeId(session, 'corrections');
  const sealId = uuidv7();
  const content = vault.seal(JSON.stringify({ before, after }), correctionIdentity(`${id}`, sealId));
  const { rowCount } = await session.query(ADD, [correction, id, field, actor, sealId, content]);
  if (rowCount !== 1) throw new Error('a correction is sealed with a data key that is retired');
  return correction;
}

const DELETE = 'DELETE FROM corrections c WHERE c.application_id = ANY ($1::bigint[])';

/** Deletes the corrections of these applications. An erasure calls it when it has locked their batches. */
export async function eraseCorrections(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  if (ids.length > 0) await session.query(DELETE, [ids]);
}
