/**
 * The searches of all subjects for stored data that depends on a secret. By these the start finds out whether the
 * configured secrets are those that the data needs.
 */
import type { Witnesses } from '../seal/witness.ts';
import { SUBJECTS } from './subjects.ts';

/** Loads the searches, in the order of the subjects. */
export async function loadWitnesses(): Promise<Witnesses> {
  const all = await Promise.all(SUBJECTS.map(({ witnesses }) => witnesses?.()));
  return {
    indexKey: all.flatMap((some) => some?.indexKey ?? []),
    apiKeyPepper: all.flatMap((some) => some?.apiKeyPepper ?? []),
    dataKeys: all.flatMap((some) => some?.dataKeys ?? []),
  };
}
