/**
 * Opens the personal data of applications and compares it with their rows (ARCHITECTURE, "Personal data"). Reads
 * `batches` through `read-envelopes.ts`.
 */
import type { FieldName } from '../../../domain/application/fields.ts';
import type { BatchId, BlindIndex } from '../../../domain/application/ids.ts';
import { knownPhone } from '../../../domain/phone/phone.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { idNumberIndexOf, phoneIndexOf, readIndex } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import { batchesOfNoKey } from './damaged-envelopes.ts';
import { isRecord, type PersonalRecord, recordAt, SEALED_FIELDS } from './envelope.ts';
import { eachEnvelope, type OpenedColumns, type Pace } from './read-envelopes.ts';

/** The columns of `applications` or `applications_of` (alias `a`) that personal data is opened and compared with. */
export const SEALED_COLUMNS = `a.batch_id AS "batchId", a.position, ${readIndex('a.phone_index')} AS "phoneIndex",
  ${readIndex('a.id_number_index')} AS "idNumberIndex"`;

export interface SealedRow {
  readonly batchId: BatchId;
  readonly position: number;
  readonly phoneIndex: BlindIndex<'phone'> | null;
  /** null if there is no application any more. */
  readonly idNumberIndex: BlindIndex<'id_number'> | null;
}

/**
 * Why personal data is not shown. `unreadable`: the envelope is damaged or malformed. `mismatch`: the record has
 * another phone or ID number than the row. `unknown_key`: this process does not have the data key of the envelope. The
 * data is neither damaged nor erased, so work that needs it waits. A key that no service has means damage
 * (`batchesOfNoKey`).
 */
export type PersonalFault = 'unreadable' | 'mismatch' | 'unknown_key';

/** `record` is null if the applicant was erased or there is a fault. */
export interface Person {
  readonly record: PersonalRecord | null;
  readonly fault: PersonalFault | null;
}

const ERASED: Person = { record: null, fault: null };
const UNREADABLE: Person = { record: null, fault: 'unreadable' };

/** The fields by which every record is compared. */
const COMPARED: readonly FieldName[] = ['id_number', 'phone'];

/**
 * These rows with their persons, in their order. A fault of one person does not affect the others. Each reader names
 * the fields that it needs besides the phone and the ID number, because every field takes time; `pace` as in
 * `eachEnvelope`.
 */
export async function readPersonalData<Row extends SealedRow>(
  session: Session,
  vault: Vault,
  rows: readonly Row[],
  needed: readonly FieldName[],
  pace?: Pace,
): Promise<{ row: Row; person: Person }[]> {
  const fields = SEALED_FIELDS.filter((name) => COMPARED.includes(name) || needed.includes(name));
  const found = rows.map((row) => ({ row, person: ERASED }));
  const byBatch = Map.groupBy(found, ({ row }) => row.batchId);
  // In a batch without an envelope all applicants were erased.
  await eachEnvelope(session, vault, [...byBatch.keys()], { fields, pace }, (batchId, columns) => {
    for (const one of byBatch.get(batchId) ?? []) one.person = personOf(vault, one.row, columns);
  });
  const unknown = found.filter(({ person }) => person.fault === 'unknown_key');
  const damaged = await batchesOfNoKey(session, [...new Set(unknown.map(({ row }) => row.batchId))]);
  for (const one of unknown) if (damaged.has(one.row.batchId)) one.person = UNREADABLE;
  return found;
}

/** Throws `UnknownDataKeyError`, for readers that must not treat data of a missing key as erased. */
export function refuseUnknownKey(persons: readonly { readonly person: Person }[]): void {
  if (persons.some(({ person }) => person.fault === 'unknown_key')) throw new UnknownDataKeyError();
}

function personOf(vault: Vault, row: SealedRow, columns: OpenedColumns): Person {
  if (row.idNumberIndex === null) return ERASED;
  if (columns === null) return UNREADABLE;
  if (columns === 'unknown_key') return { record: null, fault: 'unknown_key' };
  const record = recordAt(columns, row.position);
  if (record === null) return ERASED;
  if (!isRecord(record)) return UNREADABLE;
  if (isOfRow(vault, row, record)) return { record, fault: null };
  const read = withPhoneRead(record);
  if (read !== null && isOfRow(vault, row, read)) return { record: read, fault: null };
  return { record: null, fault: 'mismatch' };
}

/**
 * The record with its phone as the numbering plans read it now (D11), if that differs. The envelope may be older than
 * the plans, and the row may have a newer index (`vault reindex`).
 */
function withPhoneRead(record: PersonalRecord): PersonalRecord | null {
  const phone = record.phone == null ? null : knownPhone(record.phone);
  return phone === record.phone || phone === null ? null : { ...record, phone };
}

function isOfRow(vault: Vault, row: SealedRow, { phone, id_number: idNumber }: PersonalRecord): boolean {
  if (idNumber == null) return false;
  const phoneIndex = phone == null ? null : phoneIndexOf(vault, phone);
  return phoneIndex === row.phoneIndex && idNumberIndexOf(vault, idNumber) === row.idNumberIndex;
}
