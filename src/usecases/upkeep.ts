/** The background work that keeps the store small and its hot paths short. */
import type { Database } from '../storage/database.ts';
import { deleteOldReceipts } from '../storage/receipts.ts';
import { advanceUsage } from '../storage/usage.ts';

/** How often the usage ledger is advanced, and every how many times old receipts go. */
const USAGE_EVERY_MS = 15_000;
const RECEIPTS_EVERY_TURNS = 20;

/** Starts the work; `onError` hears of a turn that failed, the next one comes anyway. Stops when called. */
export function startUpkeep(database: Database, onError: (error: unknown) => void): () => Promise<void> {
  let turn = 0;
  let running = Promise.resolve();
  const work = async () => {
    try {
      await advanceUsage(database);
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
  }, USAGE_EVERY_MS);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
