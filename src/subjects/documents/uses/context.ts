/** The types of what the uses of documents work with: database, vault, store, reader, scanner, layouts and channel. */
import type { MediaChannel } from '../../../domain/message/channel.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Reader } from '../reader/reader.ts';
import type { Layout } from '../rules/layout.ts';
import type { Scanner } from '../scan/clamd.ts';
import type { DocumentStore } from '../store/document-store.ts';

/** For uses that open documents. */
export interface DocumentFiles {
  readonly database: Database;
  readonly vault: Vault;
  readonly store: DocumentStore;
}

/** For uses that receive documents. */
export interface DocumentContext extends DocumentFiles {
  readonly clock: Clock;
  readonly channel: Pick<MediaChannel, 'fetchMedia'>;
  /** null: no scanner is set. */
  readonly scanner: Scanner | null;
  readonly reader: Reader;
  /** For how long the files of a phone are read in 24 hours, in milliseconds; null: without a limit. */
  readonly mostReadingMs: number | null;
  readonly layouts: readonly Layout[];
  /** The largest file that is taken. */
  readonly mostBytes: number;
}
