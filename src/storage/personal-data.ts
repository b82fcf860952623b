/** Opens the personal data of applications and compares it with their rows. */
import type { BatchId } from '../domain/application/ids.ts';
import { fromBigint, idNumberIndexOf, phoneIndexOf } from './blind-indexes.ts';
import type { Session } from './database.ts';
import { isRecord, type OpenedEnvelope, type PersonalRecord, readEnvelopes } from './envelope.ts';
import { eachApart } from './row-fault.ts';
import { UnknownDataKeyError, type Vault } from './vault.ts';

/** The columns of `applications` or `applications_of` (alias `a`) that personal data is opened and compared with. */
export const SEALED_COLUMNS = 'a.batch_id, a.position, a.phone_index, a.id_number_index';

export interface SealedRow {
  readonly batch_id: BatchId;
  readonly position: number;
  readonly phone_index: string | null;
  /** null if there is no application any more. */
  readonly id_number_index: string | null;
}

/**
 * Why personal data is not shown. `unreadable`: the envelope is damaged or malformed. `mismatch`: the record has another
 * phone or ID number than the row. `unknown_key`: this process does not have the data key of the envelope, so what needs
 * the data waits: the data is neither damaged nor erased.
 */
export type PersonalFault = 'unreadable' | 'mismatch' | 'unknown_key';

/** `record` is null if the applicant was erased or there is a fault. */
export interface Person {
  readonly record: PersonalRecord | null;
  readonly fault: PersonalFault | null;
}

const ERASED: Person = { record: null, fault: null };

/** These rows with their persons, in their order. A fault of one person does not affect the others. */
export async function readPersonalData<Row extends SealedRow>(
  session: Session,
  vault: Vault,
  rows: readonly Row[],
): Promise<{ row: Row; person: Person }[]> {
  const envelopes = new Map<BatchId, OpenedEnvelope>();
  const damaged = (batchId: BatchId) => void envelopes.set(batchId, null);
  const batchIds = [...new Set(rows.map((row) => row.batch_id))];
  const read = async (ids: readonly BatchId[]) => {
    for (const [id, records] of await readEnvelopes(session, vault, ids)) envelopes.set(id, records);
  };
  await eachApart(batchIds, read, damaged);
  return rows.map((row) => ({ row, person: personOf(vault, row, envelopes.get(row.batch_id)) }));
}

/** Throws `UnknownDataKeyError` for a reader that must not take data of a missing key for erased. */
export function refuseUnknownKey(persons: readonly { readonly person: Person }[]): void {
  if (persons.some(({ person }) => person.fault === 'unknown_key')) throw new UnknownDataKeyError();
}

/** In a batch without an envelope all applicants were erased. */
function personOf(vault: Vault, row: SealedRow, records: OpenedEnvelope | undefined): Person {
  if (row.id_number_index === null) return ERASED;
  if (records === null) return { record: null, fault: 'unreadable' };
  if (records === 'unknown_key') return { record: null, fault: 'unknown_key' };
  const record = records?.[row.position];
  if (record === undefined) return ERASED;
  if (!isRecord(record)) return { record: null, fault: 'unreadable' };
  return isOfRow(vault, row, record) ? { record, fault: null } : { record: null, fault: 'mismatch' };
}

function isOfRow(vault: Vault, row: SealedRow, { phone, id_number: idNumber }: PersonalRecord): boolean {
  if (idNumber == null || row.id_number_index === null) return false;
  const phoneIndex = phone == null ? null : phoneIndexOf(vault, phone);
  const stored = row.phone_index === null ? null : fromBigint(row.phone_index);
  return phoneIndex === stored && idNumberIndexOf(vault, idNumber) === fromBigint(row.id_number_index);
}
