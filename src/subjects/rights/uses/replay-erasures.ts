/**
 * Does erasures again in a store that was restored from an older backup (docs/subject.md, "Erase"; docs/backup.md).
 * `uses/erase-applications.ts` has the transaction.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { counted } from '../../../ground/base/counted.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { stillStored } from '../../applications/sql/erasure.ts';
import { addErasure, type Erasure, newPhones } from '../sql/erasures.ts';
import { eraseApplications } from './erase-applications.ts';
import { phonesInStore, type WrittenErasure } from './written-erasure.ts';

export interface Replayed {
  /** How many erasures the list has. */
  readonly erasures: number;
  /** How many applications the restore had brought back, and are erased again. */
  readonly applications: number;
  /** How many phones are not suppressed again, because INDEX_KEY lacks the key of their blind indexes. */
  readonly unknownPhones: number;
}

/**
 * Erases the applications of these erasures that the store has. Suppresses the phones of those erasures that the store
 * does not know; so a suppression that was lifted since stays lifted. Open applications are rejected first, as
 * `--close` does. An application is known by its id and its seal id together, so another one that got the same id after
 * a restore stays. Each erasure is a transaction of its own, and may be done any number of times. No worker may run on
 * the store.
 */
export async function replayErasures(
  context: OperatorContext,
  list: AsyncIterable<WrittenErasure> | Iterable<WrittenErasure>,
): Promise<Replayed> {
  let erasures = 0;
  let applications = 0;
  let unknownPhones = 0;
  for await (const written of list) {
    erasures += 1;
    const phones = phonesInStore(context.vault, written);
    if (phones === null) unknownPhones += written.phones.length;
    applications += await again(context, { ...written, phones: phones ?? [] });
  }
  return { erasures, applications, unknownPhones };
}

/** Resolves to the number of applications that were erased. */
async function again(context: OperatorContext, erasure: Erasure): Promise<number> {
  const { database } = context;
  const ids = await stillStored(database, erasure.applications);
  const phones = await newPhones(database, erasure);
  if (ids.length > 0 || phones.length > 0) return eraseAgain(context, erasure, ids, phones);
  await inTransaction(database, (session) => addErasure(session, erasure));
  return 0;
}

async function eraseAgain(
  context: OperatorContext,
  erasure: Erasure,
  ids: readonly ApplicationId[],
  phones: readonly string[],
): Promise<number> {
  const { id: erasureId } = erasure;
  const done = await acting(
    context,
    async (part) => {
      await inTransaction(part.database, (session) => addErasure(session, erasure));
      return eraseApplications(part, ids, phones, { close: true, nobodySends: true, erasureId });
    },
    () => ({ act: 'subject replay-erasures', target: `erasure ${erasureId}` }),
  );
  return done.applications.length;
}

/** The text for the operator about phones that were not suppressed again. */
export function unknownPhonesText(count: number): string {
  return `${counted(count, 'phone of an erased person is', 'phones of erased persons are')} not suppressed again where the store has no application of it: the erasure is of a newer INDEX_KEY than this one (docs/subject.md).`;
}
