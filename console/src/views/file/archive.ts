/** A ZIP archive that is written piece by piece: none of its entries is held whole, but for what is compressed. */
import { strToU8, Zip, ZipDeflate } from 'fflate';

/** The archive does not tell when it was made. */
const MADE = '1980-01-01T00:00:00';

export class Archive {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  readonly #zip = new Zip((error, piece) => {
    if (error) throw error;
    this.#pieces.push(piece as Uint8Array<ArrayBuffer>);
  });

  /** Begins an entry. Returns what adds a text to it; the last text ends it. */
  begin(name: string): (text: string, isLast?: boolean) => void {
    const entry = new ZipDeflate(name);
    entry.mtime = MADE;
    this.#zip.add(entry);
    return (text, isLast = false) => entry.push(strToU8(text), isLast);
  }

  /** The whole archive; all entries have ended. */
  end(type: string): Blob {
    this.#zip.end();
    return new Blob(this.#pieces, { type });
  }
}
