/** The files of the simulator: those of persons and those that the service uploaded. */
import { randomUUID } from 'node:crypto';
import type { UploadFile } from '../../domain/message/channel.ts';

/** The oldest files give way beyond this. */
const MOST_BYTES = 64 * 1024 * 1024;

export class SimulatedFiles {
  readonly #files = new Map<string, UploadFile>();
  #bytes = 0;

  /** Keeps a file and returns its media id. */
  keep(file: UploadFile): string {
    const mediaId = `simulated.${randomUUID()}`;
    this.#files.set(mediaId, file);
    this.#bytes += file.bytes.length;
    for (const [oldest, { bytes }] of this.#files) {
      if (this.#bytes <= MOST_BYTES || oldest === mediaId) break;
      this.#files.delete(oldest);
      this.#bytes -= bytes.length;
    }
    return mediaId;
  }

  /** null: there is no such file any more. */
  get(mediaId: string): UploadFile | null {
    return this.#files.get(mediaId) ?? null;
  }
}
