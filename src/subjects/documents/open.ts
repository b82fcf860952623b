/**
 * Builds what the uses of documents work with from the variables of the process: store, reader, scanner and layouts
 * (docs/documents.md).
 */
import type { Channel } from '../../domain/message/channel.ts';
import type { Clock } from '../../ground/base/clock.ts';
import type { ReadSetting } from '../../ground/base/setting.ts';
import { s3AccountOf } from '../../ground/places/s3-account.ts';
import type { Watcher } from '../../program/subject/watcher.ts';
import { chooseReader, type ReaderRisk } from './reader/choose-reader.ts';
import { pdfTextReader, processReader, type Reader } from './reader/reader.ts';
import { clamdScanner, type Scanner } from './scan/clamd.ts';
import {
  CLAMD,
  DOCUMENT_LAYOUTS,
  DOCUMENT_MOST_BYTES,
  DOCUMENT_READER,
  DOCUMENT_READING_SECONDS,
  DOCUMENT_STORE,
} from './settings.ts';
import { type DocumentStore, openDocumentStore } from './store/document-store.ts';
import type { DocumentContext } from './uses/context.ts';
import type { ShownFiles } from './uses/document-text.ts';
import { type FilesToSend, sendingFiles } from './uses/file-to-send.ts';
import { loadLayouts } from './uses/load-layouts.ts';

/** The document store of this process. Throws `DocumentStoreError` if its setting is wrong. */
export function openStore(setting: ReadSetting, clock: Clock): Promise<DocumentStore> {
  const account = s3AccountOf((variable) => setting({ variable, read: (text) => text }));
  return openDocumentStore(setting(DOCUMENT_STORE), account, clock);
}

/** How this process reads documents, and a warning for the operator; null: there is none. */
export interface HowRead {
  readonly reader: ReaderRisk | 'off';
  readonly told: string | null;
}

const EXPOSED =
  'documents are read by a process that this machine cannot shut in: a file that breaks into it reaches the secrets of the service';
const OFF =
  'documents are not read, and each waits for an operator: this machine cannot shut the reading process in';
const SEE = 'docs/documents.md#the-reader';

/** Says how this process reads documents. The first call of a process tries the reader out. */
export async function howRead(setting: ReadSetting, clock: Clock): Promise<HowRead> {
  const risk = setting(DOCUMENT_READER);
  const command = await chooseReader(clock, risk);
  if (command === null) return { reader: 'off', told: `${OFF} (${SEE})` };
  return command.isIsolated
    ? { reader: 'isolated', told: null }
    : { reader: risk, told: `${EXPOSED} (${SEE})` };
}

/** Opens what shows files to operators, and takes theirs. Throws as `openStore` does. */
export async function openDeskFiles(
  setting: ReadSetting,
  clock: Clock,
  watcher: DocumentWatcher,
): Promise<ShownFiles & FilesToSend> {
  const choose = () => chooseReader(clock, setting(DOCUMENT_READER));
  return {
    store: await openStore(setting, clock),
    readText: pdfTextReader(clock, choose),
    scanner: scannerOf(setting, clock, watcher),
  };
}

/** The channel's way to send replies, which uploads their stored files first. */
export function openSending(
  setting: ReadSetting,
  clock: Clock,
  channel: Pick<Channel, 'sendReply' | 'uploadMedia'>,
): Channel['sendReply'] {
  return sendingFiles(channel, () => openStore(setting, clock), clock);
}

/**
 * For a process that receives documents. The watcher hears of each reading and each scan. Throws a `ToldError` if a
 * setting or a layout is wrong.
 */
export async function openDocuments(
  setting: ReadSetting,
  around: Pick<DocumentContext, 'database' | 'vault' | 'clock' | 'channel'> & {
    readonly watcher: DocumentWatcher;
  },
): Promise<DocumentContext> {
  const { watcher, ...rest } = around;
  const { clock } = rest;
  const mostSeconds = setting(DOCUMENT_READING_SECONDS);
  const reader = processReader(clock, () => chooseReader(clock, setting(DOCUMENT_READER)));
  return {
    ...rest,
    store: await openStore(setting, clock),
    scanner: scannerOf(setting, clock, watcher),
    reader: watchedReader(reader, clock, watcher),
    mostReadingMs: mostSeconds && mostSeconds * 1_000,
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

/** The scanner; null: none is set. */
function scannerOf(
  setting: ReadSetting,
  clock: Clock,
  watcher: Pick<DocumentWatcher, 'scanned'>,
): Scanner | null {
  const clamd = setting(CLAMD);
  return clamd && watchedScanner(clamdScanner(clamd, clock), watcher);
}

function watchedScanner(scanner: Scanner, watcher: Pick<DocumentWatcher, 'scanned'>): Scanner {
  return async (bytes) => {
    const scan = await scanner(bytes);
    watcher.scanned(scan.kind);
    return scan;
  };
}
