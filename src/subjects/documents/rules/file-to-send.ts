/**
 * Which files of operators go to applicants, and under which names (docs/documents.md, "Files to applicants"). Pure.
 */
import { HIDDEN, isPlainText } from '../../../ground/base/plain-text.ts';
import { checkFile, type FileType } from './file-type.ts';

const MOST = { document: 10_000_000, picture: 5_000_000 } as const;
/** The types that go to applicants. The channel takes pictures up to 5 MB, and documents up to 100 MB. */
const TYPES = {
  'application/pdf': { most: MOST.document, end: 'pdf' },
  'image/jpeg': { most: MOST.picture, end: 'jpg' },
  'image/png': { most: MOST.picture, end: 'png' },
} as const satisfies Partial<Record<FileType, object>>;
export type SentType = keyof typeof TYPES;

/** What is said of a file that does not go. */
export const FILE_RULE = 'must be a PDF of up to 10 MB, or a JPEG or PNG of up to 5 MB';

/** The type that the file has by its content, or why it does not go. */
export function checkFileToSend(bytes: Buffer): { readonly type: SentType } | { readonly refused: string } {
  const checked = checkFile(bytes, null);
  if ('refused' in checked) return checked;
  const { type } = checked;
  if (!isSent(type)) return { refused: 'unsupported_type' };
  return bytes.length > TYPES[type].most ? { refused: 'too_large' } : { type };
}

function isSent(type: FileType): type is SentType {
  return Object.hasOwn(TYPES, type);
}

const MOST_OF_NAME = 80;
/** What some system takes for a part of a path, a wildcard or a redirection. */
const FOR_SYSTEMS = /[/\\:*?"<>|]/;

/**
 * The name that the applicant sees: of one that somebody's machine told, without folders, without characters that hide
 * or turn text, and with the end that fits the content.
 */
export function nameToSend(given: string, type: SentType): string {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1)!;
  const readable = [...last].filter((one) => isPlainText(one) && !HIDDEN.test(one) && !FOR_SYSTEMS.test(one));
  const stem = readable
    .join('')
    .replace(/\.[^.]{1,5}$/, '')
    .replace(/^[.\s]+/, '');
  const short = [...stem].slice(0, MOST_OF_NAME).join('').trim();
  return `${short === '' ? 'file' : short}.${TYPES[type].end}`;
}
