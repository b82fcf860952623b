/**
 * What a place of objects promises, whether a folder or an S3-compatible store. Types alone. docs/backup.md and
 * docs/documents.md ("The store") say what is kept there.
 */

/** What a place is used for: the words of its errors, and how large an object may be. */
export interface PlaceUse {
  /** Such as `the place of the backups`. */
  readonly name: string;
  /** What an address is for, after "is no place for". */
  readonly purpose: string;
  /** What an object is, after "larger than any". */
  readonly object: string;
  /** What to do if an object cannot be read. */
  readonly advice: string;
  readonly mostBytes: number;
  /** The place cannot be used. */
  readonly failure: (text: string, cause?: unknown) => Error;
  /** An object of the place cannot be read; others may be whole. */
  readonly unreadable: (text: string) => Error;
}

/** Objects of a few MiB under names of two levels, such as `000001-1f3a9c0d/base-00001`. */
export interface Place {
  /** For people: the folder, or `s3://bucket/prefix`. */
  readonly address: string;
  /** Stores an object whole or not at all; it is safe from a power cut when this returns. Replaces an older one. */
  put(name: string, object: Buffer): Promise<void>;
  /**
   * undefined: the place has no such object. Throws the `unreadable` of its use if the object is larger than
   * `mostBytes`.
   */
  get(name: string): Promise<Buffer | undefined>;
  /** The names that begin with `prefix`, sorted. A place that does not exist yet has none. */
  list(prefix: string): Promise<string[]>;
  /** The bytes that are free; null: the place does not tell. */
  room(): Promise<number | null>;
  /** Removes one object. Does nothing if there is no such object. */
  remove(name: string): Promise<void>;
  /** Removes all objects below a name without a slash. */
  clear(folder: string): Promise<void>;
}
