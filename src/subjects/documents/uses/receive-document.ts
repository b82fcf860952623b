/**
 * Receives a file from the channel: fetches it, checks it, has it scanned, seals and stores it, and then reads it
 * (docs/documents.md, "The way of a file"). Uses the network, the document store, the reader's process, and
 * `documents`.
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import {
  type DocumentId,
  type DocumentReason,
  type Fate,
  fateOf,
  type Purpose,
  STATE_OF,
} from '../../../domain/document/document.ts';
import type { Holder } from '../../../domain/document/holder.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { requireLiveKey } from '../../../seal/data-keys.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { READER_VERSION } from '../reader/reader.ts';
import { checkFile, mayBeDocument } from '../rules/file-type.ts';
import { judgeDocument } from '../rules/judge-document.ts';
import { noteReading } from '../sql/decisions.ts';
import {
  addDocument,
  countDocuments,
  documentOfInput,
  readDocument,
  readingSpent,
  type SealedDocument,
} from '../sql/documents.ts';
import { DocumentStoreError } from '../store/document-store.ts';
import type { DocumentContext } from './context.ts';
import { type OpenedDocument, openDocument, sha256Of, storeFile } from './document-file.ts';

/** A file that a person sent for an application. */
export interface SentFile {
  readonly applicationId: ApplicationId;
  /** The other applications of the phone. */
  readonly samePhone: readonly ApplicationId[];
  readonly partnerId: PartnerId;
  readonly purpose: Purpose;
  /** The blind index of the channel's id of the message. The same message is the same document. */
  readonly inputIndex: BlindIndex<'channel_message_id'>;
  readonly mediaId: string;
  readonly claimedType: string | null;
  readonly claimedSha256: string | null;
  readonly filename: string | null;
  readonly holder: Holder;
}

/**
 * What became of the file. `documentId` is null if the application is gone or has too many documents: nothing was
 * stored.
 */
export interface ReceivedDocument {
  readonly documentId: DocumentId | null;
  readonly sha256: string | null;
  readonly fate: Fate;
  readonly reason: DocumentReason;
}

/** Nothing is decided yet: call `receiveDocument` again after this time. */
export interface RetryLater {
  readonly retryAfterMs: number;
  readonly reason: 'channel' | 'scanner' | 'store' | 'unknown_key';
}

/** The most documents of an application. An applicant has a few. */
export const MOST_DOCUMENTS = 60;
/** This is longer than the channel's own limits. */
const FETCH_MS = 90_000;
const SOON_MS = 10_000;
const LATER_MS = 60_000;

/**
 * Fetches a file, checks it, seals and stores it, and only then reads it. May be called again for the same message: it
 * goes on where it stopped. The same file in the same application is the same document. Throws if the database fails.
 */
export async function receiveDocument(
  context: DocumentContext,
  file: SentFile,
): Promise<ReceivedDocument | RetryLater> {
  try {
    const known = await documentOfInput(context.database, file.inputIndex);
    if (known !== null) return await finish(context, known, file);
    const refused = await refuseUnseen(context, file);
    if (refused !== null) return refused;
    return await fetchAndStore(context, file);
  } catch (error) {
    if (error instanceof DocumentStoreError) return { retryAfterMs: LATER_MS, reason: 'store' };
    if (error instanceof UnknownDataKeyError) return { retryAfterMs: LATER_MS, reason: 'unknown_key' };
    throw error;
  }
}

async function refuseUnseen(context: DocumentContext, file: SentFile): Promise<ReceivedDocument | null> {
  const { database } = context;
  if ((await stillThere(database, [file.applicationId])).length === 0) {
    return { documentId: null, sha256: null, fate: 'refused', reason: 'gone' };
  }
  if (!mayBeDocument(file.claimedType)) return refuse(context, file, 'unsupported_type');
  const isFull = (await countDocuments(database, file.applicationId)) >= MOST_DOCUMENTS;
  // No row is stored, so that somebody who sends without end adds none.
  if (isFull) return { documentId: null, sha256: null, fate: 'refused', reason: 'too_many' };
  return null;
}

async function fetchAndStore(
  context: DocumentContext,
  file: SentFile,
): Promise<ReceivedDocument | RetryLater> {
  const { channel, clock, mostBytes, scanner } = context;
  const media = await channel.fetchMedia(file.mediaId, { maxBytes: mostBytes }, clock.timeout(FETCH_MS));
  if (media.kind === 'retry') return { retryAfterMs: SOON_MS, reason: 'channel' };
  if (media.kind !== 'media') return refuse(context, file, media.kind);
  const { bytes } = media;
  if (bytes.length > mostBytes) return refuse(context, file, 'too_large');
  const sha256 = sha256Of(bytes);
  if (!fitsClaim(sha256, file.claimedSha256) || !fitsClaim(sha256, media.sha256)) {
    return refuse(context, file, 'hash_mismatch');
  }
  const checked = checkFile(bytes, file.claimedType ?? media.contentType);
  if ('refused' in checked) return refuse(context, file, checked.refused);
  if (scanner !== null) {
    const scan = await scanner(bytes);
    if (scan.kind === 'unavailable') return { retryAfterMs: SOON_MS, reason: 'scanner' };
    if (scan.kind !== 'clean') return refuse(context, file, scan.kind);
  }
  const { filename, claimedType } = file;
  const stored = await storeFile(context, {
    bytes,
    contentType: checked.type,
    claims: { filename, claimedType },
  });
  const id = await add(context, { ...file, state: 'received', reason: null, file: stored });
  const document = await readDocument(context.database, id);
  // The person was erased meanwhile.
  if (document === null) return { documentId: null, sha256, fate: 'refused', reason: 'gone' };
  return finish(context, document, file, document.fileKey === stored.fileKey ? bytes : undefined);
}

/** The claim may be hex in lower case, or base64, as some channels send it. */
function fitsClaim(sha256: string, claimed: string | null): boolean {
  if (claimed === null) return true;
  const text = claimed.trim();
  return text.toLowerCase() === sha256 || Buffer.from(text, 'base64').toString('hex') === sha256;
}

type Adding = Parameters<typeof addDocument>[1];

function add(context: DocumentContext, document: Adding): Promise<DocumentId> {
  return inTransaction(context.database, async (session) => {
    await requireLiveKey(session, context.vault);
    return (await addDocument(session, document)).id;
  });
}

/** Stores the refusal of a file. */
async function refuse(
  context: DocumentContext,
  file: SentFile,
  reason: DocumentReason,
): Promise<ReceivedDocument> {
  const id = await add(context, { ...file, state: 'rejected', reason, file: null });
  const document = await readDocument(context.database, id);
  if (document === null || document.reason === null) {
    return { documentId: null, sha256: null, fate: 'refused', reason };
  }
  return resultOf(document, document.reason);
}

/** Reads a stored document, unless it was read before; `bytes` if they are in memory. */
async function finish(
  context: DocumentContext,
  document: SealedDocument,
  { samePhone, holder }: Pick<SentFile, 'samePhone' | 'holder'>,
  bytes?: Buffer,
): Promise<ReceivedDocument> {
  const { database, reader, layouts, mostReadingMs } = context;
  const { id, applicationId, partnerId, purpose, contentType, reason } = document;
  if (reason !== null) return resultOf(document, reason);
  const opened = openDocument(context, document);
  const content = bytes ?? (await contentOf(opened));
  const spentMs = await readingSpent(database, [applicationId, ...samePhone]);
  let tookMs = 0;
  const took = (ms: number) => {
    tookMs += ms;
  };
  const isOver = mostReadingMs !== null && spentMs >= mostReadingMs;
  const read =
    typeof content === 'string'
      ? { fault: content }
      : await reader(content, contentType ?? '', { partnerId, isOver, took });
  const judged = judgeDocument(purpose, read, holder, layouts);
  const reading = opened?.sealReading({
    method: 'fault' in read ? null : read.method,
    pages: 'fault' in read ? 0 : read.pages,
    finding: judged.finding,
    holder: judged.holder,
    reader: READER_VERSION,
  });
  await noteReading(database, id, STATE_OF[fateOf(judged.reason)], judged.reason, reading ?? null, tookMs);
  // Another process may have read it too, or an operator may have decided meanwhile. What is stored counts.
  const stored = await readDocument(database, id);
  return resultOf(document, stored?.reason ?? judged.reason);
}

/**
 * The bytes of a document that was stored earlier, as after a crash, or why there are none. Throws `DocumentStoreError`
 * if the store fails.
 */
async function contentOf(opened: OpenedDocument | null): Promise<Buffer | 'file_missing' | 'file_damaged'> {
  try {
    return (await opened?.file()) ?? 'file_missing';
  } catch (error) {
    if (error instanceof DocumentStoreError) throw error;
    return 'file_damaged';
  }
}

function resultOf({ id, sha256 }: SealedDocument, reason: DocumentReason): ReceivedDocument {
  return { documentId: id, sha256, fate: fateOf(reason), reason };
}
