/** The variables that only the documents read (docs/documents.md, "The store" has the table). */
import { join, resolve } from 'node:path';
import { readLimit, type Setting } from '../../ground/base/setting.ts';
import type { ReaderRisk } from './reader/choose-reader.ts';
import { type ClamdAddress, readClamdAddress } from './rules/clamd-address.ts';

/** DOCUMENT_STORE, where sealed files lie: an absolute path, or s3://bucket/prefix. */
export const DOCUMENT_STORE: Setting<string> = {
  variable: 'DOCUMENT_STORE',
  read: (text, { dataDir }) => {
    if (text === undefined) return join(dataDir, 'documents');
    return text.includes('://') ? text : resolve(text);
  },
};

/** The largest file that is taken, in bytes. */
export const DOCUMENT_MOST_BYTES: Setting<number> = {
  variable: 'DOCUMENT_MOST_MB',
  read: (text = '25') => {
    if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > 100) {
      throw new RangeError('must be a whole number of megabytes from 1 to 100');
    }
    return Number(text) * 1_000_000;
  },
};

/** The days after which documents are deleted; null: they are deleted with their applications. */
export const DOCUMENT_DAYS: Setting<number | null> = {
  variable: 'DOCUMENT_DAYS',
  read: (text = 'none') => readLimit(text),
};

/** The folder with the operator's own layouts of statements; null: there is none. */
export const DOCUMENT_LAYOUTS: Setting<string | null> = {
  variable: 'DOCUMENT_LAYOUTS',
  read: (text) => (text === undefined ? null : resolve(text)),
};

/** Where the virus scanner listens; null: there is none. */
export const CLAMD: Setting<ClamdAddress | null> = {
  variable: 'CLAMD',
  read: (text) => (text === undefined ? null : readClamdAddress(text)),
};

/** What is read if this machine cannot isolate the reader. */
export const DOCUMENT_READER: Setting<ReaderRisk> = {
  variable: 'DOCUMENT_READER',
  read: (text, { isSimulated }) => {
    if (text === undefined) return isSimulated ? 'demonstration' : 'isolated';
    if (text === 'isolated' || text === 'exposed') return text;
    throw new RangeError('must be one of: isolated, exposed');
  },
};

/** For how many seconds the files of a phone are read in 24 hours; null: without a limit. */
export const DOCUMENT_READING_SECONDS: Setting<number | null> = {
  variable: 'DOCUMENT_READING_SECONDS',
  read: (text = '300') => readLimit(text),
};
