/** The background work that keeps the store small and its hot paths short. */

import { SETTLE_AFTER_MS } from '../domain/delivery.ts';
import type { Database } from '../storage/database.ts';
import { findLost, forgetRecipients } from '../storage/delivery.ts';
import { trimSurplus } from '../storage/envelope.ts';
import { forgetKeyOutcomes } from '../storage/key-outcomes.ts';
import { foldMessageCounts } from '../storage/message-counts.ts';
import { deleteOldReceipts, firstUuidV7At } from '../storage/receipts.ts';
import { forgetLifts } from '../storage/suppressions.ts';
import { advanceUsage } from '../storage/usage.ts';
import type { Vault } from '../storage/vault.ts';

/** How often the work is done, and every how many times what is old goes. */
const EVERY_MS = 15_000;
const SELDOM_TURNS = 20;
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
      await findLost(database, SETTLE_AFTER_MS);
      await foldMessageCounts(database);
      if (turn++ % SELDOM_TURNS !== 0) return;
      await deleteOldReceipts(database, new Date());
      await forgetRecipients(database);
      await forgetLifts(database);
      await forgetKeyOutcomes(database);
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
