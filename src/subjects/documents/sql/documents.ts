/**
 * The rows of documents: adds them by `add_document`, and reads `documents` and `document_inputs` (docs/documents.md).
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type {
  DocumentId,
  DocumentReason,
  DocumentState,
  Purpose,
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

const COLUMNS = `d.id::float8, d.application_id::float8 AS "applicationId", d.partner_id AS "partnerId", d.purpose, d.state,
  d.reason, d.received_at AS "receivedAt", d.decided_at AS "decidedAt", d.content_type AS "contentType", d.bytes,
  encode(d.sha256, 'hex') AS sha256, d.missing_at AS "missingAt"`;
const SEALED = `${COLUMNS}, d.file_key AS "fileKey", d.sealed_secret AS "sealedSecret", d.claims, d.reading`;

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
  SELECT document_id::float8 AS id, is_new AS "isNew"
  FROM add_document($1, $2, $3, $4, $5, $6, $7, $8, decode($9, 'hex'), $10, $11, $12)`;

/**
 * Stores a document, or finds the one with the same message, or with the same file in the application. The upkeep
 * deletes a file that is not needed then.
 */
export async function addDocument(
  session: Session,
  document: NewDocument,
): Promise<{ readonly id: DocumentId; readonly isNew: boolean }> {
  const { file } = document;
  const { rows } = await session.query<{ id: DocumentId; isNew: boolean }>(ADD, [
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
  return onlyRow(rows);
}

const OF_INPUT = `
  SELECT ${SEALED} FROM document_inputs i JOIN documents d ON d.id = i.document_id WHERE i.input_index = $1`;

/** The document that came by a message; null: there is none. */
export async function documentOfInput(
  session: Session,
  inputIndex: BlindIndex<'channel_message_id'>,
): Promise<SealedDocument | null> {
  return (await session.query<SealedDocument>(OF_INPUT, [toBigint(inputIndex)])).rows[0] ?? null;
}

const BY_ID = `SELECT ${SEALED} FROM documents d WHERE d.id = $1`;

/** A document with what opens it; null: there is none. */
export async function readDocument(session: Session, id: DocumentId): Promise<SealedDocument | null> {
  return (await session.query<SealedDocument>(BY_ID, [id])).rows[0] ?? null;
}

const OF_APPLICATION = `SELECT ${SEALED} FROM documents d WHERE d.application_id = $1 ORDER BY d.id`;

/** The documents of an application with what opens them, the oldest first. */
export async function sealedDocumentsOf(
  session: Session,
  applicationId: ApplicationId,
): Promise<SealedDocument[]> {
  return (await session.query<SealedDocument>(OF_APPLICATION, [applicationId])).rows;
}

const COUNTS = `
  SELECT d.application_id::float8 AS id, (count(*) FILTER (WHERE d.state = 'accepted'))::integer AS accepted,
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
  const { rows } = await session.query<DocumentCounts & { id: ApplicationId }>(COUNTS, [ids]);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
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
  for (let before: string | number | undefined = END; before !== undefined; ) {
    const values: unknown[] = [before, applicationId, state];
    const { rows }: { rows: StoredDocument[] } = await session.query<StoredDocument>(LIST, values);
    yield* rows;
    before = rows.length === PAGE ? rows.at(-1)?.id : undefined;
  }
}
