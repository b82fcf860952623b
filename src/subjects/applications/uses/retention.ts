/**
 * What operators do with the retention: see what is due, and delete it (docs/operations.md, "How long applications are
 * kept"). Writes the store through `sql/retention.ts`.
 */
import type { Retention } from '../../../domain/application/retention.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { type Due, dueBy, forgetBy } from '../sql/retention.ts';

export type { Due };

/** What is old enough to be deleted, by month and status, the oldest month first. */
export async function planRetention({ database }: OperatorContext, retention: Retention): Promise<Due[]> {
  const sums = new Map<string, Due>();
  for await (const due of dueBy(database, retention)) {
    const name = `${due.month} ${due.status}`;
    sums.set(name, { ...due, applications: due.applications + (sums.get(name)?.applications ?? 0) });
  }
  return [...sums.values()].sort((a, b) => `${a.month} ${a.status}`.localeCompare(`${b.month} ${b.status}`));
}

/** Deletes what is old enough, for about a minute, as the upkeep does every five minutes. Returns how many. */
export function runRetention({ database, clock }: OperatorContext, retention: Retention): Promise<number> {
  return forgetBy(database, clock, retention);
}
