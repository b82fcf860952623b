/**
 * What a subject offers to the program. Types alone. Each subject has a file `subject.ts` with a value of this shape,
 * and `app/subjects.ts` lists these values: to add or to delete a subject is to change that list. ARCHITECTURE, "The
 * house", has the rule.
 */
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { Channel } from '../../domain/message/channel.ts';
import type { Heard } from '../../domain/message/channel-event.ts';
import type { ReadTemplates } from '../../domain/message/channel-templates.ts';
import type { Clock } from '../../ground/base/clock.ts';
import type { ReadSetting, Setting } from '../../ground/base/setting.ts';
import type { Database, Session } from '../../ground/postgres/database.ts';
import type { Table } from '../../ground/postgres/table.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Witnesses } from '../../seal/witness.ts';
import type { Schema } from '../../wire/contract/openapi-request.ts';
import type { Route } from '../../wire/operator/route.ts';
import type { Cli, Program } from '../cli/command.ts';
import type { StoreView } from '../operations/operator-context.ts';
import type { Watcher } from './watcher.ts';

/**
 * The parts of a subject. `ventanilla --help` loads every `subject.ts`, so these import only what each process needs;
 * the functions load the rest.
 */
export interface Subject {
  readonly commands?: readonly Commands[];
  /** The variables that this subject alone reads. */
  readonly settings?: readonly Setting<unknown>[];
  /** Loads what the subject declares about its tables. Jobs of the upkeep and witnesses are made from it. */
  readonly tables?: () => Promise<readonly Table[]>;
  /** Loads the searches for stored data that depends on a secret, for every process with a store. */
  readonly witnesses?: () => Promise<Partial<Witnesses>>;
  /** Loads what the backup has to know about files outside of the database. */
  readonly files?: () => Promise<StoredFiles>;
  /** Loads the routes of the operator API. */
  readonly consoleRoutes?: () => Promise<(context: ConsoleContext) => readonly Route[]>;
  /** Loads the routes of the partners' portal. */
  readonly portalRoutes?: () => Promise<(context: PortalContext) => readonly Route[]>;
  /** Loads what `serve` and `worker` run. */
  readonly service?: () => Promise<Service>;
}

/** Files that the rows of a subject name. A file is written once and never changed. */
export interface StoredFiles {
  /** The beginnings of all names. A part has a few thousand files. */
  readonly parts: readonly string[];
  /** The files of a part that rows name, without those that are known to be lost. */
  keysOf(session: Session, part: string): Promise<string[]>;
  /**
   * The files that this process has stored since the last call. A crash forgets some; the comparison of the parts finds
   * these.
   */
  storedLately(): readonly string[];
  /** The store of this process. */
  open(setting: ReadSetting, clock: Clock): Promise<FileStore>;
}

export interface FileStore {
  put(key: string, bytes: Buffer): Promise<void>;
  /** undefined: there is no such file. */
  get(key: string): Promise<Buffer | undefined>;
  /** The files of a part. */
  list(part: string): Promise<string[]>;
}

/** Commands of the command line. */
export interface Commands {
  /** Adds a command or a group to the program, or finds the group of another subject, for the program's help. */
  readonly command: (program: Program) => Command;
  /** Loads the function that fills the command or the group. It runs if the arguments name the command. */
  readonly load: () => Promise<(command: Command, cli: Cli) => void>;
}

/** What a service runs for a subject. */
export interface Service {
  /** The jobs of the upkeep, in the order of their turn. */
  readonly upkeep?: readonly UpkeepJob[];
  /** Starts the loops, in a process that delivers. */
  readonly loops?: readonly ((context: LoopContext) => Loop | Promise<Loop>)[];
  /**
   * Gets what persons said at the channel, many persons at once, in the channel's order. Resolves when all is
   * committed; then the channel gets its answer. If this rejects, the channel sends everything again. So each message
   * has to count once, however often it comes. Resolves to those of the messages that the subjects after this one do
   * not hear, because this one answers them.
   */
  readonly hear?: (context: HearContext, heard: readonly Heard[]) => Promise<readonly Heard[]>;
  /** Begins to watch a process. One subject at most does. */
  readonly watch?: (context: WatchContext) => Watcher;
  /** The requests that the service itself sends, for the OpenAPI document. */
  readonly webhooks?: Schema;
}

/** What the parts of a service get. */
export interface ServiceContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the service stops, for work that goes on beside the turns of the upkeep. */
  readonly stopping: AbortSignal;
  /** Logs that some work failed; it will be repeated. */
  readonly failed: (work: string, error: unknown) => void;
  readonly setting: ReadSetting;
  readonly watcher: Watcher;
}

/** What the routes of the operator API get. */
export interface ConsoleContext extends Pick<ServiceContext, 'database' | 'vault' | 'clock' | 'setting'> {
  /** The store as a whole. */
  readonly view: StoreView;
  /** Which templates the channel has. */
  readonly readTemplates: ReadTemplates;
}

/** What the routes of the portal get. */
export type PortalContext = Pick<ServiceContext, 'database' | 'vault' | 'clock'>;

/** What a listener at the channel gets. */
export type HearContext = Pick<ServiceContext, 'database' | 'vault' | 'clock' | 'log' | 'setting'>;

/** What a watcher gets. */
export interface WatchContext extends Pick<ServiceContext, 'database' | 'clock' | 'setting'> {
  /** All connections of the process to the database, by their use. */
  readonly pools: Readonly<Record<string, Database>>;
}

/** What a loop gets. */
export interface LoopContext extends ServiceContext {
  readonly channel: Channel;
}

/** A job of the upkeep. Every turn runs it, or every twentieth turn. A job that fails does not stop the others. */
export interface UpkeepJob {
  readonly name: string;
  readonly seldom?: true;
  readonly run: (context: ServiceContext) => Promise<unknown>;
}

/**
 * Background work that goes on until it is stopped. It begins a turn at least every two minutes, even without a
 * database. Otherwise the process counts as stuck (`app/background.ts`).
 */
export interface Loop {
  /** When the last turn began, on `Clock.monotonicMs`. */
  lastTurnMs(): number;
  /** Begins no more turns. Resolves when the turn under way has begun what it took up, or was undone. */
  stop(): Promise<void>;
  /** After `stop()`: resolves when everything that was begun has ended and is recorded. */
  readonly ended: Promise<void>;
}
