/** Erases again what was erased before: in a store that was restored from an older backup. */
import { type ApplicationId, toApplicationId } from '../../applications/rules/ids.ts';
import { stillStored } from '../../applications/sql/erasure.ts';
import { acting } from '../../operations/acting.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { addErasure, type Erasure } from '../sql/erasures.ts';
import { eraseApplications } from './erase-applications.ts';

export interface Replayed {
  /** The erasures of the list. */
  readonly erasures: number;
  /** The applications that were there again, and are erased again. */
  readonly applications: number;
}

/**
 * Erases the applications of these erasures where the store has them. Open ones are rejected first, as `--close` does.
 * An application is known by its id and its seal id, so one that got the same id after a restore stays. Each erasure is
 * a transaction of its own, and may come any number of times. No worker may run on the store.
 */
export async function replayErasures(
  context: OperatorContext,
  erasures: AsyncIterable<Erasure> | Iterable<Erasure>,
): Promise<Replayed> {
  let count = 0;
  let applications = 0;
  for await (const { id, at, applications: erased } of erasures) {
    count += 1;
    const ids = await stillStored(context.database, erased);
    if (ids.length > 0) applications += await again(context, { id, at, applications: erased }, ids);
    else await addErasure(context.database, id, at, erased);
  }
  return { erasures: count, applications };
}

async function again(
  context: OperatorContext,
  { id, at, applications }: Erasure,
  ids: readonly ApplicationId[],
): Promise<number> {
  const done = await acting(
    context,
    async (part) => {
      await addErasure(part.database, id, at, applications);
      return eraseApplications(part, ids, [], { close: true, nobodySends: true, erasureId: id });
    },
    () => ({ act: 'subject replay-erasures', target: `erasure ${id}` }),
  );
  return done.applications.length;
}

/** An erasure as JSON, for a list outside of the store. */
export function erasureJson({ id, at, applications }: Erasure) {
  return {
    id,
    at: at.toISOString(),
    applications: applications.map((one) => ({ id: one.id, seal_id: one.sealId })),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An erasure from its JSON. Throws `OperatorError` where the value is none. */
export function readErasure(value: unknown): Erasure {
  const { id, at, applications } = Object(value) as Record<string, unknown>;
  const time = new Date(String(at));
  if (
    typeof id !== 'string' ||
    !UUID.test(id) ||
    Number.isNaN(time.getTime()) ||
    !Array.isArray(applications)
  ) {
    throw new OperatorError(
      'the list holds something else than erasures: it must be what subject erasures printed',
    );
  }
  return { id, at: time, applications: applications.map((one) => readApplication(one, id)) };
}

function readApplication(value: unknown, erasure: string) {
  const { id, seal_id: sealId } = Object(value) as Record<string, unknown>;
  if (!Number.isSafeInteger(id) || typeof sealId !== 'string' || !UUID.test(sealId)) {
    throw new OperatorError(`erasure ${erasure} of the list has an application without id and seal_id`);
  }
  return { id: toApplicationId(id as number), sealId };
}
