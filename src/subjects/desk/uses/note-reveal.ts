/**
 * Records that an operator reads personal data, and enforces the hourly limit (docs/operators.md, "One application";
 * docs/audit.md). Writes `operator_events` and `desk_requests`.
 */
import { counted } from '../../../ground/base/counted.ts';
import { againAfterConflict, inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import {
  type Act,
  addOperatorEvents,
  revealedTooOften,
} from '../../../program/operations/sql/operator-events.ts';
import { MOST_REVEALS_AN_HOUR } from '../rules/queue.ts';
import { type KeyedRequest, keyedRequest, takeRequest } from '../sql/desk-requests.ts';
import { Refusal, spentKey } from './refusal.ts';

export { keyedRequest };

/**
 * Commits the record of a reading before anything is opened. Throws a `Refusal` if the operator has revealed too many
 * applications and files within an hour; then nothing is recorded. The head of the record is locked before the limit is
 * checked, so that readings at the same moment count too. `request`: its repetition within ten minutes does not count
 * again; null: it has no key.
 */
export function noteReveal(
  { database, vault, actor }: OperatorContext,
  act: Act,
  request: KeyedRequest | null,
): Promise<void> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      if (request !== null && !(await isFirst(session, request))) return;
      await addOperatorEvents(session, chainKeysOf(vault), actor, [act]);
      const retryAfterSeconds = await revealedTooOften(session, actor, MOST_REVEALS_AN_HOUR);
      if (retryAfterSeconds === null) return;
      const wait = `too many applications and files revealed within an hour: wait ${counted(retryAfterSeconds, 'second')}`;
      throw new Refusal(429, wait, { retryAfterSeconds });
    }),
  );
}

async function isFirst(session: Transaction, request: KeyedRequest): Promise<boolean> {
  const before = await takeRequest(session, request);
  if (before === 'new') return true;
  if (before === 'other' || before === 'undone') throw spentKey(before);
  if (before.isRecent) return false;
  throw new Refusal(400, 'the Idempotency-Key is older than ten minutes: take a new one');
}
