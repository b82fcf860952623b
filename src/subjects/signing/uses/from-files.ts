/** A value that is read from files on the disk, and read again if one of them changes (docs/signing.md, "Terms"). */
import { stat } from 'node:fs/promises';

export class FromFiles<T> {
  readonly #paths: readonly string[];
  readonly #load: () => Promise<T>;
  #value: T;
  /** The stamp of the files that the value comes from; null: changed files were refused since. */
  #stamp: string | null;

  private constructor(paths: readonly string[], load: () => Promise<T>, value: T, stamp: string) {
    this.#paths = paths;
    this.#load = load;
    this.#value = value;
    this.#stamp = stamp;
  }

  /** Reads the value for the first time. Throws what `load` throws. */
  static async open<T>(paths: readonly string[], load: () => Promise<T>): Promise<FromFiles<T>> {
    const stamp = await stampOf(paths);
    return new FromFiles(paths, load, await load(), stamp);
  }

  get value(): T {
    return this.#value;
  }

  /**
   * Reads the value again if a file has changed since the last time. True: the value was read again. Throws what `load`
   * throws: then the value stays as it was, and the next call reads the files again in any case.
   */
  async refresh(): Promise<boolean> {
    const stamp = await stampOf(this.#paths);
    if (stamp === this.#stamp) return false;
    this.#stamp = null;
    this.#value = await this.#load();
    this.#stamp = stamp;
    return true;
  }
}

/** The stamp differs after a file was replaced, written or removed. */
async function stampOf(paths: readonly string[]): Promise<string> {
  const stamps = paths.map((path) =>
    stat(path, { bigint: true }).then(
      ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
      () => 'gone',
    ),
  );
  return (await Promise.all(stamps)).join(', ');
}
