/** What a page does with a document's file. */
import type { DocumentFile } from '../api/work.ts';

export const PDF_TYPE = 'application/pdf';

/** The types that the service stores, with the ends of their names. */
const TYPES: Readonly<Record<string, { readonly end: string; readonly text: string }>> = {
  'image/jpeg': { end: 'jpg', text: 'JPEG' },
  'image/png': { end: 'png', text: 'PNG' },
  'image/webp': { end: 'webp', text: 'WebP' },
  [PDF_TYPE]: { end: 'pdf', text: 'PDF' },
};

/** The type in short; null: it is not known. */
export function typeOf(contentType: string | null): string | null {
  return contentType === null ? null : (TYPES[contentType]?.text ?? contentType);
}

export function isPicture({ content_type }: DocumentFile): boolean {
  return content_type.startsWith('image/') && content_type in TYPES;
}

/** The picture as an address of its own content: the policy of the page allows no other. */
export function pictureOf({ content_type, bytes }: DocumentFile): string {
  return `data:${content_type};base64,${bytes}`;
}

/** A name without anything of the person: the name that the applicant gave stays behind. */
export function nameOf({ content_type }: DocumentFile, id: number): string {
  return `document-${id}.${TYPES[content_type]?.end ?? 'bin'}`;
}

/** The file for a download. */
export function blobOf({ content_type, bytes }: DocumentFile): Blob {
  return new Blob([Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0))], {
    type: content_type,
  });
}
