/** Puts together what the uses of documents work with, from the variables of the process. */
import type { Clock } from '../base/clock.ts';
import type { ReadSetting } from '../base/setting.ts';
import { s3AccountOf } from '../places/s3-account.ts';
import type { Watcher } from '../subject/watcher.ts';
import { isolation, isolationWarning } from './reader/isolation.ts';
import { isReading, processReader, type Reader } from './reader/reader.ts';
import { clamdScanner, type Scanner } from './scan/clamd.ts';
import { CLAMD, DOCUMENT_LAYOUTS, DOCUMENT_MOST_BYTES, DOCUMENT_STORE } from './settings.ts';
import { type DocumentStore, openDocumentStore } from './store/document-store.ts';
import type { DocumentContext } from './uses/context.ts';
import { loadLayouts } from './uses/load-layouts.ts';

/** The document store of this process. Throws `DocumentStoreError` where it is set wrong. */
export function openStore(setting: ReadSetting, clock: Clock): Promise<DocumentStore> {
  const account = s3AccountOf((variable) => setting({ variable, read: (text) => text }));
  return openDocumentStore(setting(DOCUMENT_STORE), account, clock);
}

/** What whoever runs this machine has to know before it reads documents; null: nothing. */
export async function readerWarning(): Promise<string | null> {
  return isolationWarning(await isolation());
}

/** An error for whoever runs this machine, where the reader's process does not work here; null: it works. */
export async function readerFailure(clock: Clock): Promise<string | null> {
  if (await isReading(processReader(clock))) return null;
  return 'this machine cannot read documents: the process that reads them fails, so each document waits for an operator (docs/documents.md)';
}

/**
 * For a process that receives documents, whose watcher hears of the reader and the scanner. Throws a `ToldError` where
 * a setting or a layout is wrong.
 */
export async function openDocuments(
  setting: ReadSetting,
  around: Pick<DocumentContext, 'database' | 'vault' | 'clock' | 'channel'> & {
    readonly watcher: DocumentWatcher;
  },
): Promise<DocumentContext> {
  const clamd = setting(CLAMD);
  const { watcher, ...rest } = around;
  const { clock } = rest;
  return {
    ...rest,
    store: await openStore(setting, clock),
    scanner: clamd && watchedScanner(clamdScanner(clamd, clock), watcher),
    reader: watchedReader(processReader(clock), clock, watcher),
    layouts: await loadLayouts(setting(DOCUMENT_LAYOUTS)),
    mostBytes: setting(DOCUMENT_MOST_BYTES),
  };
}

type DocumentWatcher = Pick<Watcher, 'readDocument' | 'scanned'>;

function watchedReader(reader: Reader, clock: Clock, watcher: DocumentWatcher): Reader {
  return async (...document) => {
    const begunMs = clock.monotonicMs();
    const read = await reader(...document);
    watcher.readDocument('fault' in read ? read.fault : 'read', clock.monotonicMs() - begunMs);
    return read;
  };
}

function watchedScanner(scanner: Scanner, watcher: DocumentWatcher): Scanner {
  return async (bytes) => {
    const scan = await scanner(bytes);
    watcher.scanned(scan.kind);
    return scan;
  };
}
