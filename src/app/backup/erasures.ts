/**
 * Copies the erasures of persons into the place of backups, and repeats them in a restored store (docs/backup.md;
 * docs/subject.md, "Erase"). Reads `erasures`, writes objects of the place; erases through the subject `rights`.
 */
import { type Clock, DAY_MS } from '../../ground/base/clock.ts';
import { describeError } from '../../ground/base/describe-error.ts';
import type { EmbeddedConnection } from '../../ground/embedded/session.ts';
import type { Place } from '../../ground/places/place.ts';
import { schemaFit } from '../../ground/schema/migrations.ts';
import type { OperatorContext } from '../../program/operations/operator-context.ts';
import { type Secrets, Vault } from '../../seal/vault.ts';
import { erasuresIn, hasErasure, readStoredErasures, storeErasure } from '../../subjects/backup/erasures.ts';
import { BackupError, OtherBackupKeyError } from '../../subjects/backup/errors.ts';
import type { BackupKey } from '../../subjects/backup/sealed.ts';
import {
  listErasures,
  type NumberedErasure,
  readErasuresAfter,
} from '../../subjects/rights/uses/list-erasures.ts';
import { type Replayed, replayErasures } from '../../subjects/rights/uses/replay-erasures.ts';
import { erasureJson, readErasure, type WrittenErasure } from '../../subjects/rights/uses/written-erasure.ts';
import { withDatabase } from './with-database.ts';

interface PlaceAndKey {
  readonly place: Place;
  readonly key: BackupKey;
}

type Source = Pick<OperatorContext, 'database' | 'vault' | 'clock'>;

/**
 * An erasure gets its number before it is committed. So a turn looks again at this many of the previous turn's newest
 * numbers. An erasure takes seconds, and far fewer than these are done in that time.
 */
const LOOKED_AT_AGAIN = 1_000;
/** How many erasures of the place one turn tries to open, and how often it begins again with the first one. */
const CHECKED_AT_ONCE = 10;
const CHECKED_EVERY_MS = DAY_MS;

/** Copies the erasures of the store into the place, and repeats the copy if the place has lost or damaged it. */
export class ErasureCopies {
  readonly #to: PlaceAndKey;
  /** The ids that the place has; null until the first look. */
  #known: Set<string> | null = null;
  /** The newest number that was copied. */
  #copied = 0;
  /** The newest number that was checked, and when the next check may begin with the first one. */
  #checked = 0;
  #nextRoundMs = 0;

  constructor(to: PlaceAndKey) {
    this.#to = to;
  }

  /**
   * Copies what is new, and checks a few of the others. Any number of processes may do this at once. Throws if the
   * place fails or has an erasure of another key; the next call goes on.
   */
  async turn(source: Source): Promise<void> {
    await this.copy(source);
    await this.#check(source);
  }

  /** Copies what is new. Throws if the place fails; the next call goes on. */
  async copy({ database, vault }: Source): Promise<void> {
    const { place } = this.#to;
    this.#known ??= new Set(await erasuresIn(place));
    for await (const erasure of listErasures({ database }, Math.max(0, this.#copied - LOOKED_AT_AGAIN))) {
      if (!this.#known.has(erasure.id)) await this.#store(vault, erasure);
      this.#known.add(erasure.id);
      this.#copied = Math.max(this.#copied, erasure.number);
    }
  }

  async #check({ database, vault, clock }: Source): Promise<void> {
    if (clock.monotonicMs() < this.#nextRoundMs) return;
    const { place, key } = this.#to;
    const some = await readErasuresAfter(database, this.#checked, CHECKED_AT_ONCE);
    if (some.length === 0) {
      this.#checked = 0;
      this.#nextRoundMs = clock.monotonicMs() + CHECKED_EVERY_MS;
    }
    for (const erasure of some) {
      this.#checked = erasure.number;
      if (!(await hasErasure(place, key, erasure.id))) await this.#store(vault, erasure);
    }
  }

  #store(vault: Vault, erasure: NumberedErasure): Promise<void> {
    const { place, key } = this.#to;
    return storeErasure(place, key, erasure.id, erasureJson(vault, erasure));
  }
}

/**
 * Copies the erasures of a store into the place. A store that still needs migrations may have no such table yet. Throws
 * if the place fails.
 */
export function copyErasures(
  connection: EmbeddedConnection,
  secrets: Secrets,
  to: PlaceAndKey,
  clock: Clock,
): Promise<void> {
  return withDatabase(connection, clock, async (database) => {
    const { pending } = await schemaFit(database);
    if (pending.length === 0)
      await new ErasureCopies(to).copy({ database, vault: new Vault(secrets), clock });
  });
}

/** The number of erasures in the place. Throws `BackupError` if one of them cannot be read. */
export async function countErasures({ place, key }: PlaceAndKey): Promise<number> {
  let count = 0;
  try {
    for await (const value of readStoredErasures(place, key)) {
      readErasure(value);
      count += 1;
    }
  } catch (error) {
    // Then nothing is damaged; the operator has to set the key.
    if (error instanceof OtherBackupKeyError) throw error;
    throw new BackupError(
      `the erasures in ${place.address} cannot be read (${describeError(error)}): a restore would be refused; a running service writes a damaged one again within a day`,
    );
  }
  return count;
}

/**
 * Repeats the erasures that the place has, and those that later states of the store know. Throws `BackupError` if the
 * records cannot be read, because without them the restore would bring erased persons back.
 */
export async function eraseAgain(
  context: OperatorContext,
  { place, key }: PlaceAndKey,
  later: readonly WrittenErasure[],
): Promise<Replayed> {
  async function* erasures() {
    const missing = new Map(later.map((erasure) => [erasure.id, erasure]));
    try {
      for await (const value of readStoredErasures(place, key)) {
        const erasure = readErasure(value);
        missing.delete(erasure.id);
        yield erasure;
      }
    } catch (error) {
      throw new BackupError(
        `the erasures in ${place.address} cannot be read (${describeError(error)}): without them the restore would bring erased persons back; mend the place, or add --without-erasures and erase them again by hand`,
      );
    }
    yield* missing.values();
  }
  return replayErasures(context, erasures());
}
