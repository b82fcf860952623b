/** The registrar of a service, whose statements the watcher hears of and whose batches are traced. */

import { isSpread } from '../ground/schema/distribution.ts';
import type { Watcher } from '../program/subject/watcher.ts';
import { tracing } from '../program/tracing/tracing.ts';
import { type AroundStatement, Registrar } from '../subjects/applications/sql/registration.ts';
import type { OpenStore, Store } from './open-store.ts';

interface OpenRegistrar {
  readonly registrar: Pick<Registrar, 'register'>;
  /** How many applications it works on at once. */
  readonly atWork: number;
}

/** `policyId` is the stored policy that scores the batches. */
export async function openRegistrar(
  { database, vault, clock, patience }: Store & Pick<OpenStore, 'patience'>,
  policyId: number,
  watcher: Watcher,
): Promise<OpenRegistrar> {
  const spread = await patience.run(() => isSpread(database));
  const traced = await tracedRegistrations();
  const around: AroundStatement = (batches, call) => {
    watcher.registering(
      batches.length,
      batches.reduce((sum, { candidates }) => sum + candidates.length, 0),
    );
    return traced === null ? call() : traced.around(batches, call);
  };
  const terms = { policyId, indexKeyId: vault.indexKeyId };
  const registrar = new Registrar(database, terms, { clock, isSpread: spread, around });
  return { registrar: traced?.of(registrar) ?? registrar, atWork: registrar.atWork };
}

/** null: this process is not traced. */
async function tracedRegistrations() {
  const some = tracing();
  if (some === null) return null;
  const { TracedRegistrations } = await import('../subjects/applications/uses/traced-registration.ts');
  return new TracedRegistrations(some);
}
