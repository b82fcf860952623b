/**
 * Seals, stores and opens the file of a document and its sealed parts: what the channel told, and what was read
 * (docs/documents.md, "The store"). Uses the document store and the vault.
 */
import { createHash } from 'node:crypto';
import type { DocumentId } from '../../../domain/document/document.ts';
import type { HolderMatch } from '../../../domain/document/holder.ts';
import type { Debt } from '../../../domain/loan/debt.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Finding } from '../rules/layout.ts';
import type { SealedDocument, StoredFile } from '../sql/documents.ts';
import { secretIdentity } from '../sql/tables.ts';
import { newFileKey } from '../store/document-store.ts';
import { newFileSecret, openWith, sealWith } from '../store/sealed-file.ts';
import type { DocumentFiles } from './context.ts';

/** What the channel told about a file. */
export interface Claims {
  readonly filename: string | null;
  readonly claimedType: string | null;
}

/** What was read in a document, as it is kept for the evidence. */
export interface Reading {
  /** null: only an operator stated the months. */
  readonly method: 'text' | 'ocr' | null;
  readonly pages: number;
  readonly finding: Finding | null;
  readonly holder: HolderMatch;
  /** What read it, and in which version. */
  readonly reader: string;
  /** What an operator stated in the place of what was read. */
  readonly stated?: Pick<Finding, 'currency' | 'months'>;
}

/** 64 lower-case hex digits. */
export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Seals bytes and puts them into the store. Throws `DocumentStoreError` if the store fails. */
export async function storeFile(
  { vault, store }: Pick<DocumentFiles, 'vault' | 'store'>,
  { bytes, contentType, claims }: { bytes: Buffer; contentType: string; claims: Claims },
): Promise<StoredFile> {
  const fileKey = newFileKey('document');
  const secret = newFileSecret();
  await store.put(fileKey, sealWith(secret, bytes, fileKey));
  return {
    contentType,
    bytes: bytes.length,
    sha256: sha256Of(bytes),
    fileKey,
    sealedSecret: vault.seal(secret, secretIdentity(fileKey)),
    claims: sealWith(secret, Buffer.from(JSON.stringify(claims)), `claims ${fileKey}`),
  };
}

/** What was read in a document; null if nothing was read yet, or if it has no file. Throws as `openDocument` does. */
export function readingOf(vault: Vault, document: SealedDocument): Reading | null {
  const secret = secretOf(vault, document);
  return secret && partOf<Reading>(secret, document, 'reading');
}

/** The debts that an accepted statement of debts tells (D52). */
export interface StatementDebts {
  readonly documentId: DocumentId;
  readonly currency: string | null;
  readonly debts: readonly Debt[];
}

/** The debts that a document tells; null: it is not accepted, or none were read. Throws as `openDocument` does. */
export function debtsOf(vault: Vault, document: SealedDocument): StatementDebts | null {
  if (document.purpose !== 'debts' || document.state !== 'accepted') return null;
  const { debts = [], currency = null } = readingOf(vault, document)?.finding ?? {};
  return debts.length === 0 ? null : { documentId: document.id, currency, debts };
}

function secretOf(vault: Vault, { fileKey, sealedSecret }: SealedDocument): Buffer | null {
  if (fileKey === null || sealedSecret === null) return null;
  return vault.open(sealedSecret, secretIdentity(fileKey));
}

function partOf<T>(secret: Buffer, document: SealedDocument, what: 'claims' | 'reading'): T | null {
  const sealed = document[what];
  if (sealed === null) return null;
  return JSON.parse(openWith(secret, sealed, `${what} ${document.fileKey}`).toString());
}

/** The opened parts of a document that has a file. */
export interface OpenedDocument {
  readonly claims: Claims | null;
  /** null: it was not read yet. */
  readonly reading: Reading | null;
  readonly sealReading: (reading: Reading) => Buffer;
  /** The bytes of the file; undefined: the store has no such file. */
  readonly file: () => Promise<Buffer | undefined>;
}

/**
 * Opens the sealed parts of a document; null if it has no file. Throws `UnknownDataKeyError` if this process lacks the
 * data key, and an `Error` if the sealed bytes are damaged.
 */
export function openDocument(
  { vault, store }: Pick<DocumentFiles, 'vault' | 'store'>,
  document: SealedDocument,
): OpenedDocument | null {
  const { fileKey } = document;
  const secret = secretOf(vault, document);
  if (secret === null || fileKey === null) return null;
  return {
    claims: partOf<Claims>(secret, document, 'claims'),
    reading: partOf<Reading>(secret, document, 'reading'),
    sealReading: (value) => sealWith(secret, Buffer.from(JSON.stringify(value)), `reading ${fileKey}`),
    file: async () => {
      const sealed = await store.get(fileKey);
      return sealed && openWith(secret, sealed, fileKey);
    },
  };
}
