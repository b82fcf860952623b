/**
 * The rows of documents: adds them by `add_document`, and reads `documents` and `document_inputs` (docs/documents.md).
 */
import { type ApplicationId, type BlindIndex, toApplicationId } from '../../../domain/application/ids.ts';
import {
  type DocumentId,
  type DocumentReason,
  type DocumentState,
  type Purpose,
  toDocumentId,
} from '../../../domain/document/document.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';

/** What may be shown of a document without opening sealed parts. */
export interface StoredDocument {
  readonly id: DocumentId;
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  readonly purpose: Purpose;
  readonly state: DocumentState;
  /** null: the document is stored, and not read yet. */
  readonly reason: DocumentReason | null;
  readonly receivedAt: Date;
  readonly decidedAt: Date | null;
  /** This and the next two are null if no file was stored. */
  readonly contentType: string | null;
  readonly bytes: number | null;
  /** 64 lower-case hex digits. */
  readonly sha256: string | null;
  /** When the upkeep found that the store lacks the file. */
  readonly missingAt: Date | null;
}

/** A document with what opens its file; null if there is no file. */
export interface SealedDocument extends StoredDocument {
  readonly fileKey: string | null;
  readonly sealedSecret: Buffer | null;
  readonly claims: Buffer | null;
  readonly reading: Buffer | null;
}

interface Row {
  id: string;
  application_id: string;
  partner_id: PartnerId;
  purpose: Purpose;
  state: DocumentState;
  reason: DocumentReason | null;
  received_at: Date;
  decided_at: Date | null;
  content_type: string | null;
  bytes: number | null;
  sha256: string | null;
  missing_at: Date | null;
}

interface SealedRow extends Row {
  file_key: string | null;
  sealed_secret: Buffer | null;
  claims: Buffer | null;
  reading: Buffer | null;
}

const COLUMNS = `d.id, d.application_id, d.partner_id, d.purpose, d.state, d.reason, d.received_at, d.decided_at,
  d.content_type, d.bytes, encode(d.sha256, 'hex') AS sha256, d.missing_at`;
const SEALED_COLUMNS = `${COLUMNS}, d.file_key, d.sealed_secret, d.claims, d.reading`;

/** A file that was stored for a new document. */
export interface StoredFile {
  readonly contentType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly fileKey: string;
  readonly sealedSecret: Buffer;
  readonly claims: Buffer;
}

/** A document that came by a message; `file` is null if it was refused before it was stored. */
export interface NewDocument {
  readonly inputIndex: BlindIndex<'channel_message_id'>;
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  readonly purpose: Purpose;
  readonly state: DocumentState;
  readonly reason: DocumentReason | null;
  readonly file: StoredFile | null;
}

const ADD = `
  SELECT document_id, is_new FROM add_document($1, $2, $3, $4, $5, $6, $7, $8, decode($9, 'hex'), $10, $11, $12)`;

/**
 * Stores a document, or finds the one with the same message, or with the same file in the application. The upkeep
 * deletes a file that is not needed then.
 */
export async function addDocument(
  session: Session,
  document: NewDocument,
): Promise<{ readonly id: DocumentId; readonly isNew: boolean }> {
  const { file } = document;
  const { rows } = await session.query<{ document_id: string; is_new: boolean }>(ADD, [
    toBigint(document.inputIndex),
    document.applicationId,
    document.partnerId,
    document.purpose,
    document.state,
    document.reason,
    file?.contentType ?? null,
    file?.bytes ?? null,
    file?.sha256 ?? null,
    file?.fileKey ?? null,
    file?.sealedSecret ?? null,
    file?.claims ?? null,
  ]);
  const { document_id, is_new } = onlyRow(rows);
  return { id: toDocumentId(document_id), isNew: is_new };
}

const OF_INPUT = `
  SELECT ${SEALED_COLUMNS} FROM document_inputs i JOIN documents d ON d.id = i.document_id WHERE i.input_index = $1`;

/** The document that came by a message; null: there is none. */
export async function documentOfInput(
  session: Session,
  inputIndex: BlindIndex<'channel_message_id'>,
): Promise<SealedDocument | null> {
  const { rows } = await session.query<SealedRow>(OF_INPUT, [toBigint(inputIndex)]);
  return rows[0] === undefined ? null : sealedOf(rows[0]);
}

const BY_ID = `SELECT ${SEALED_COLUMNS} FROM documents d WHERE d.id = $1`;

/** A document with what opens it; null: there is none. */
export async function readDocument(session: Session, id: DocumentId): Promise<SealedDocument | null> {
  const { rows } = await session.query<SealedRow>(BY_ID, [id]);
  return rows[0] === undefined ? null : sealedOf(rows[0]);
}

const OF_APPLICATION = `SELECT ${SEALED_COLUMNS} FROM documents d WHERE d.application_id = $1 ORDER BY d.id`;

/** The documents of an application with what opens them, the oldest first. */
export async function sealedDocumentsOf(
  session: Session,
  applicationId: ApplicationId,
): Promise<SealedDocument[]> {
  return (await session.query<SealedRow>(OF_APPLICATION, [applicationId])).rows.map(sealedOf);
}

const COUNTS = `
  SELECT d.application_id AS id, (count(*) FILTER (WHERE d.state = 'accepted'))::integer AS accepted,
    (count(*) FILTER (WHERE d.state = 'received'))::integer AS received,
    (count(*) FILTER (WHERE d.state = 'rejected'))::integer AS rejected
  FROM documents d WHERE d.application_id = ANY ($1::bigint[]) GROUP BY d.application_id`;

/** How many documents of each state an application has. */
export type DocumentCounts = Readonly<Record<DocumentState, number>>;

/** How many documents each application has, of those that have any. */
export async function documentCountsOf(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, DocumentCounts>> {
  const { rows } = await session.query<DocumentCounts & { id: string }>(COUNTS, [ids]);
  return new Map(rows.map(({ id, ...counts }) => [toApplicationId(id), counts]));
}

const COUNT = 'SELECT count(*)::integer AS count FROM documents d WHERE d.application_id = $1';

/** How many documents an application has. */
export async function countDocuments(session: Session, applicationId: ApplicationId): Promise<number> {
  return onlyRow((await session.query<{ count: number }>(COUNT, [applicationId])).rows).count;
}

const SPENT = `
  SELECT coalesce(sum(d.reading_ms), 0)::integer AS ms FROM documents d
  WHERE d.application_id = ANY ($1) AND d.received_ms > elapsed_ms() - ms_of(interval '1 day')`;

/** For how long documents of these applications were read that came in the last 24 hours (D39), in milliseconds. */
export async function readingSpent(
  session: Session,
  applicationIds: readonly ApplicationId[],
): Promise<number> {
  return onlyRow((await session.query<{ ms: number }>(SPENT, [applicationIds])).rows).ms;
}

/** A filter of the list. A part that is null does not narrow it. */
export interface DocumentFilter {
  readonly applicationId: ApplicationId | null;
  readonly state: DocumentState | null;
}

const PAGE = 500;
const LIST = `
  SELECT ${COLUMNS} FROM documents d
  WHERE d.id < $1 AND ($2::bigint IS NULL OR d.application_id = $2) AND ($3::text IS NULL OR d.state = $3)
  ORDER BY d.id DESC LIMIT ${PAGE}`;
const END = '9223372036854775807';

/** Documents, the newest first. */
export async function* listDocuments(
  session: Session,
  { applicationId, state }: DocumentFilter,
): AsyncGenerator<StoredDocument, void, undefined> {
  for (let before: string | undefined = END; before !== undefined; ) {
    const { rows }: { rows: Row[] } = await session.query<Row>(LIST, [before, applicationId, state]);
    yield* rows.map(documentOf);
    before = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  }
}

function documentOf(row: Row): StoredDocument {
  return {
    id: toDocumentId(row.id),
    applicationId: toApplicationId(row.application_id),
    partnerId: row.partner_id,
    purpose: row.purpose,
    state: row.state,
    reason: row.reason,
    receivedAt: row.received_at,
    decidedAt: row.decided_at,
    contentType: row.content_type,
    bytes: row.bytes,
    sha256: row.sha256,
    missingAt: row.missing_at,
  };
}

function sealedOf(row: SealedRow): SealedDocument {
  const { file_key: fileKey, sealed_secret: sealedSecret, claims, reading } = row;
  return { ...documentOf(row), fileKey, sealedSecret, claims, reading };
}
