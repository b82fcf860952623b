/**
 * Takes a file that an operator sends to an applicant: checks it, has it scanned, seals and stores it; and uploads it
 * to the channel when its reply goes out (docs/documents.md, "Files to applicants"). Uses the document store and the
 * network.
 */
import type { Channel } from '../../../domain/message/channel.ts';
import type { ReplyDocument, StoredReplyFile } from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { ClamdAddress } from '../rules/clamd-address.ts';
import { checkFileToSend, FILE_RULE, nameToSend } from '../rules/file-to-send.ts';
import { clamdScanner, type Scanner } from '../scan/clamd.ts';
import { type DocumentStore, DocumentStoreError, newFileKey } from '../store/document-store.ts';
import { newFileSecret, openWith, sealWith } from '../store/sealed-file.ts';
import { sha256Of } from './document-file.ts';

/** What takes the files of operators. */
export interface FilesToSend {
  readonly store: DocumentStore;
  /** null: no scanner is set. */
  readonly scanner: Scanner | null;
}

/** What takes the files of a command; `clamd` null: no scanner is set. */
export function filesToSend(store: DocumentStore, clamd: ClamdAddress | null, clock: Clock): FilesToSend {
  return { store, scanner: clamd && clamdScanner(clamd, clock) };
}

/** A file as the operator gives it. */
export interface GivenFile {
  readonly bytes: Buffer;
  readonly filename: string;
}

/** The scanner does not answer now. No file goes without a scan. */
export class NotScanned extends OperatorError {}

/**
 * Checks and stores a file, under a name that is safe to show. A file that no reply gets is deleted by the upkeep.
 * Throws `OperatorError` if the file does not go, and `DocumentStoreError` if the store fails.
 */
export async function storeFileToSend(
  { store, scanner }: FilesToSend,
  { bytes, filename }: GivenFile,
): Promise<StoredReplyFile> {
  const checked = checkFileToSend(bytes);
  if ('refused' in checked) throw new OperatorError(`the file ${FILE_RULE} (${checked.refused})`);
  const { type } = checked;
  const scan = (await scanner?.(bytes)) ?? { kind: 'clean' };
  if (scan.kind === 'unavailable')
    throw new NotScanned('the virus scanner does not answer: send the file again later');
  if (scan.kind !== 'clean') throw new OperatorError(`the virus scanner refused the file (${scan.kind})`);
  const key = newFileKey('document');
  const secret = newFileSecret();
  await store.put(key, sealWith(secret, bytes, key));
  return {
    ...{ key, secret: secret.toString('base64'), contentType: type },
    ...{ filename: nameToSend(filename, type), sha256: sha256Of(bytes) },
  };
}

/** An upload and its wait for others. With the send it has to end before the reply counts as lost. */
const UPLOAD_MS = 40_000;
/** The most files in memory: a turn of replies may have a hundred. */
const MOST_AT_ONCE = 4;

type Sending = Pick<Channel, 'sendReply' | 'uploadMedia'>;

/**
 * Sends replies as the channel does, and uploads the stored file of a reply right before it. An upload that failed says
 * that the reply has not gone out, so it is tried again with it.
 */
export function sendingFiles(
  channel: Sending,
  openStore: () => Promise<DocumentStore>,
  clock: Clock,
): Sending['sendReply'] {
  const inTurn = turns(MOST_AT_ONCE);
  return async ({ file, ...reply }, signal) => {
    if (file === undefined) return channel.sendReply(reply, signal);
    const until = AbortSignal.any([signal, clock.timeout(UPLOAD_MS)]);
    const uploaded = await inTurn(() => upload(channel, openStore, file, until));
    return 'mediaId' in uploaded ? channel.sendReply({ ...reply, document: uploaded }, signal) : uploaded;
  };
}

async function upload(
  channel: Sending,
  openStore: () => Promise<DocumentStore>,
  { key, secret, contentType, filename }: StoredReplyFile,
  signal: AbortSignal,
) {
  if (signal.aborted) return { kind: 'retry', reason: 'aborted' } as const;
  let bytes: Buffer;
  try {
    const sealed = await (await openStore()).get(key);
    if (sealed === undefined) return { kind: 'give_up', reason: 'file_missing' } as const;
    bytes = openWith(Buffer.from(secret, 'base64'), sealed, key);
  } catch (error) {
    if (error instanceof DocumentStoreError) return { kind: 'retry', reason: 'file_store' } as const;
    return { kind: 'give_up', reason: 'file_damaged' } as const;
  }
  const { kind, ...uploaded } = await channel.uploadMedia({ bytes, contentType, filename }, signal);
  if ('reason' in uploaded)
    return { kind: kind === 'retry' ? kind : 'give_up', reason: uploaded.reason } as const;
  const isPicture = contentType !== 'application/pdf' && { isPicture: true as const };
  return { mediaId: uploaded.mediaId, filename, ...isPicture } satisfies ReplyDocument;
}

/** Lets `most` works go on at once; the others wait in their order. */
function turns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
