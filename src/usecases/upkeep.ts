/** The background work that keeps the store small and its hot paths short. */
import type { Database } from '../storage/database.ts';
import { trimSurplus } from '../storage/envelope.ts';
import { deleteOldReceipts, firstUuidV7At } from '../storage/receipts.ts';
import { advanceUsage } from '../storage/usage.ts';
import type { Vault } from '../storage/vault.ts';

/** How often the work is done, and every how many times old receipts go. */
const EVERY_MS = 15_000;
const RECEIPTS_EVERY_TURNS = 20;
/** An envelope that still holds refused applicants after this was left behind by a crash. */
const SURPLUS_AFTER_MS = 30_000;

/** Starts the work; `onError` hears of a turn that failed, the next one comes anyway. Stops when called. */
export function startUpkeep(
  database: Database,
  vault: Vault,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let turn = 0;
  let running = Promise.resolve();
  const work = async () => {
    try {
      await advanceUsage(database);
      await trimSurplus(database, vault, firstUuidV7At(Date.now() - SURPLUS_AFTER_MS));
      if (turn++ % RECEIPTS_EVERY_TURNS === 0) await deleteOldReceipts(database, new Date());
    } catch (error) {
      onError(error);
    }
  };
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = work().finally(() => {
      busy = false;
    });
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
