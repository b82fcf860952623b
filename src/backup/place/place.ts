/** A file of the write-ahead log has 16 MiB, and its sealed form little more. */
export const MOST_OBJECT_BYTES = 20 * 1024 * 1024;

/** Where backups lie: objects of a few MiB under names such as `000001-1f3a9c0d/base-00001`. */
export interface Place {
  /** For people: the folder, or `s3://bucket/prefix`. */
  readonly address: string;
  /** Stores an object whole or not at all; it is safe from a power cut when this returns. Replaces an older one. */
  put(name: string, object: Buffer): Promise<void>;
  /**
   * undefined: the place has no such object. Throws `UnreadableBackupError` where it is larger than
   * `MOST_OBJECT_BYTES`.
   */
  get(name: string): Promise<Buffer | undefined>;
  /** The names that begin with `prefix`, sorted. A place that does not exist yet has none. */
  list(prefix: string): Promise<string[]>;
  /** Removes one object. Does nothing where there is no such object. */
  remove(name: string): Promise<void>;
  /** Removes all objects below a name without a slash. */
  clear(folder: string): Promise<void>;
}
