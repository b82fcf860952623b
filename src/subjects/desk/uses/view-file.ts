/** Records that an operator makes a file of a view (docs/operators.md, "Views"; docs/audit.md). */
import { noting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import type { SavedQuery } from '../rules/views.ts';

/** Commits the record before the first row is read. Its target is the view with its filters, which name nobody. */
export async function noteFile(context: OperatorContext, query: SavedQuery, reason: string): Promise<void> {
  const filters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  await noting(context, { act: 'view file', target: filters.join(' '), reason });
}
