/** The erasures that were done. */
import type { OperatorContext } from '../../operations/operator-context.ts';
import { type Erasure, readErasures } from '../sql/erasures.ts';

export type { Erasure };

/** All erasures, the oldest first; memory is bounded. */
export function listErasures({
  database,
}: Pick<OperatorContext, 'database'>): AsyncGenerator<Erasure, void, undefined> {
  return readErasures(database);
}
