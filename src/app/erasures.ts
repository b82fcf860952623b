/** The erasures of persons in the place of backups: written there, and done again in a restored store. */
import { erasuresIn, readStoredErasures, storeErasure } from '../backup/erasures.ts';
import { BackupError } from '../backup/errors.ts';
import type { BackupKey } from '../backup/sealed.ts';
import { describeError } from '../base/describe-error.ts';
import type { OperatorContext } from '../operations/operator-context.ts';
import type { Place } from '../places/place.ts';
import { listErasures } from '../rights/uses/list-erasures.ts';
import { erasureJson, type Replayed, readErasure, replayErasures } from '../rights/uses/replay-erasures.ts';

interface PlaceAndKey {
  readonly place: Place;
  readonly key: BackupKey;
}

/** Copies the erasures of the store into the place, where they are not there yet. */
export class ErasureCopies {
  readonly #to: PlaceAndKey;
  /** The ids that the place has; null until it was asked. */
  #known: Set<string> | null = null;

  constructor(to: PlaceAndKey) {
    this.#to = to;
  }

  /** Any number of processes may do this at once. Throws where the place fails; the next call goes on. */
  async turn(database: OperatorContext['database']): Promise<void> {
    const { place, key } = this.#to;
    this.#known ??= new Set(await erasuresIn(place));
    for await (const erasure of listErasures({ database })) {
      if (this.#known.has(erasure.id)) continue;
      await storeErasure(place, key, erasure.id, erasureJson(erasure));
      this.#known.add(erasure.id);
    }
  }
}

/**
 * Erases again what the place has a record of. Throws `BackupError` where the records cannot be read: without them the
 * restore would bring erased persons back.
 */
export async function eraseAgain(context: OperatorContext, { place, key }: PlaceAndKey): Promise<Replayed> {
  async function* erasures() {
    try {
      for await (const value of readStoredErasures(place, key)) yield readErasure(value);
    } catch (error) {
      throw new BackupError(
        `the erasures in ${place.address} cannot be read (${describeError(error)}): without them the restore would bring erased persons back; mend the place, or add --without-erasures and erase them again by hand`,
      );
    }
  }
  return replayErasures(context, erasures());
}
