/**
 * The document store: keeps sealed files in a folder below DATA_DIR, or in an S3-compatible store for several machines
 * (docs/documents.md, "The store"). Uses the disk or the network.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../ground/base/clock.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { openPlace } from '../../../ground/places/open-place.ts';
import type { Place, PlaceUse } from '../../../ground/places/place.ts';
import type { S3Account } from '../../../ground/places/s3.ts';

/** The store cannot be used. Operators read the message. */
export class DocumentStoreError extends ToldError {
  override readonly name = 'DocumentStoreError';
}

/** The largest file that DOCUMENT_MOST_BYTES may allow, with its seal. */
const MOST_BYTES = 101 * 1024 * 1024;

const DOCUMENTS: PlaceUse = {
  name: 'the store of documents',
  purpose: 'documents',
  object: 'document',
  advice: 'put the file back from a copy',
  mostBytes: MOST_BYTES,
  failure: (text, cause) => new DocumentStoreError(text, { cause }),
  unreadable: (text) => new DocumentStoreError(text),
};

/** Keeps sealed bytes under keys of `newFileKey`. Each method throws `DocumentStoreError` if the store fails. */
export interface DocumentStore {
  /** The address, for people. */
  readonly address: string;
  /** Stores all bytes or nothing. They are safe from a power cut when this returns. */
  put(key: string, sealed: Buffer): Promise<void>;
  /** The sealed bytes; undefined: the store has no such file. */
  get(key: string): Promise<Buffer | undefined>;
  /** Does nothing if there is no such file. */
  delete(key: string): Promise<void>;
  /** The keys that begin with a text, sorted. */
  list(prefix: string): Promise<string[]>;
}

/**
 * Opens the store at an address: a folder, or `s3://bucket/prefix`. Throws `DocumentStoreError` for another address.
 */
export async function openDocumentStore(
  address: string,
  account: S3Account | null,
  clock: Clock,
): Promise<DocumentStore> {
  return storeIn(await openPlace(address, account, DOCUMENTS, clock));
}

/** More than a process stores between two looks of the backup. */
const MOST_LATELY = 10_000;
const lately = new Set<string>();

/** The files of a kind that this process has stored since the last call, for the backup. */
export function storedLately(kind: FileKind): string[] {
  const keys = [...lately].filter((key) => key.startsWith(`${kind}-`));
  for (const key of keys) lately.delete(key);
  return keys;
}

function storeIn(place: Place): DocumentStore {
  return {
    address: place.address,
    put: async (key, sealed) => {
      await place.put(key, sealed);
      if (lately.size < MOST_LATELY) lately.add(key);
    },
    get: (key) => place.get(key),
    delete: (key) => place.remove(key),
    list: (prefix) => place.list(prefix),
  };
}

/** What a file belongs to. The keys of a kind begin with its name, and each kind has one owner. */
export type FileKind = 'document' | 'contract';

/** How many parts the keys of a kind have. One look goes through one part. */
export const KEY_PARTS = 256;

/** The beginning of all keys of a part, from 0 on. */
export function keyPart(kind: FileKind, part: number): string {
  return `${kind}-${part.toString(16).padStart(2, '0')}/`;
}

/** A key that no file has had. It tells nothing about the file. */
export function newFileKey(kind: FileKind): string {
  const [part = 0, ...rest] = randomBytes(17);
  return keyPart(kind, part) + Buffer.from(rest).toString('hex');
}
