/**
 * Bounds the receipts of batches that registered nothing: about the newest 1,000 of each API key stay (D36). If a key
 * has more, its own oldest ones are deleted. Reads and writes `batch_receipts`.
 */
import type { KeyId } from '../../../domain/partner/credential.ts';
import type { Database } from '../../../ground/postgres/database.ts';

/** The receipts of an API key that stay. The largest receipt takes 1.1 KiB with its part of the indexes. */
const MOST = 1_000;
/** The number of new receipts of a key after which a process looks for old ones. */
const LOOK_EVERY = 100;
const CHUNK = 5_000;

/**
 * $2: a time before which all receipts of the key are deleted already. Without $2 the statement would walk over dead
 * rows for as long as a backup keeps these rows from being removed. It waits for no lock. `oldest_ms` is null while
 * there are fewer than `MOST`.
 */
const FORGET = `
  WITH oldest AS MATERIALIZED (
    SELECT stored_ms, refused_number FROM batch_receipts
    WHERE refused_number IS NOT NULL AND api_key_id = $1 AND stored_ms >= $2
    ORDER BY stored_ms DESC, refused_number DESC OFFSET ${MOST - 1} LIMIT 1
  ), forgotten AS (
    DELETE FROM batch_receipts WHERE batch_id IN (
      SELECT r.batch_id FROM batch_receipts r, oldest o
      WHERE r.refused_number IS NOT NULL AND r.api_key_id = $1 AND r.stored_ms >= $2 AND r.stored_ms <= o.stored_ms
        AND (r.stored_ms, r.refused_number) < (o.stored_ms, o.refused_number)
      ORDER BY r.stored_ms, r.refused_number LIMIT ${CHUNK} FOR UPDATE OF r SKIP LOCKED)
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM forgotten)::integer AS forgotten, (SELECT stored_ms FROM oldest) AS oldest_ms`;

interface KeyState {
  /** Since the last look. */
  fresh: number;
  /** No receipt is left that is older than this, by `elapsed_ms()`. */
  oldestMs: string;
  looking: boolean;
}

export class RefusedReceipts {
  readonly #database: Database;
  readonly #onForgotten: (keyId: KeyId, receipts: number) => void;
  readonly #onError: (error: unknown) => void;
  /** By API key, so at most one entry for each. */
  readonly #keys = new Map<KeyId, KeyState>();
  readonly #underway = new Set<Promise<void>>();

  /** `onError` is called when a look fails; the next receipt of the key makes the next look. */
  constructor(
    database: Database,
    on: {
      onForgotten: (keyId: KeyId, receipts: number) => void;
      onError: (error: unknown) => void;
    },
  ) {
    this.#database = database;
    this.#onForgotten = on.onForgotten;
    this.#onError = on.onError;
  }

  /** Counts a new receipt of a batch that registered nothing. Now and then forgets the key's oldest ones. */
  added(keyId: KeyId): void {
    let state = this.#keys.get(keyId);
    if (state === undefined) {
      // An earlier process may have left some.
      state = { fresh: LOOK_EVERY - 1, oldestMs: '0', looking: false };
      this.#keys.set(keyId, state);
    }
    state.fresh += 1;
    if (state.fresh < LOOK_EVERY || state.looking) return;
    const look = this.#look(keyId, state).finally(() => this.#underway.delete(look));
    this.#underway.add(look);
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }

  async #look(keyId: KeyId, state: KeyState): Promise<void> {
    const seen = state.fresh;
    state.looking = true;
    try {
      const { rows } = await this.#database.query<{ forgotten: number; oldest_ms: string | null }>({
        name: 'forget_refused_receipts',
        text: FORGET,
        values: [keyId, state.oldestMs],
      });
      const { forgotten, oldest_ms } = rows[0]!;
      if (forgotten < CHUNK) state.fresh -= seen;
      if (forgotten < CHUNK && oldest_ms !== null) state.oldestMs = oldest_ms;
      if (forgotten > 0) this.#onForgotten(keyId, forgotten);
    } catch (error) {
      this.#onError(error);
    } finally {
      state.looking = false;
    }
  }
}
