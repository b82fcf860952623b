/** What is noted of the outcomes of a batch: numbers, and no value that was sent. Pure. */
import type { Outcome } from '../../../domain/application/read-application.ts';
import { fieldError } from '../../../wire/contract/texts.ts';
import type { NotedRequest } from '../uses/request-log.ts';

const COUNTED = {
  registered: 'registered',
  duplicate: 'duplicate',
  over_quota: 'overQuota',
  invalid: 'invalid',
  not_an_object: 'notAnObject',
} as const satisfies Record<Outcome['kind'], keyof NonNullable<NotedRequest['counts']>>;

/** The parts of a noted request; null outcomes: it was no batch, or was refused as a whole. */
export function notedOutcomes(outcomes: readonly Outcome[] | null): Pick<NotedRequest, 'counts' | 'faults'> {
  return { counts: outcomes && countsOf(outcomes), faults: outcomes && faultsOf(outcomes) };
}

function countsOf(outcomes: readonly Outcome[]): NonNullable<NotedRequest['counts']> {
  const counts = { registered: 0, duplicate: 0, overQuota: 0, invalid: 0, notAnObject: 0 };
  for (const { kind } of outcomes) counts[COUNTED[kind]] += 1;
  return counts;
}

/** By the documented name of the field and the code of its rule (D55). */
function faultsOf(outcomes: readonly Outcome[]): NotedRequest['faults'] {
  let faults: Record<string, number> | null = null;
  for (const outcome of outcomes) {
    if (outcome.kind !== 'invalid') continue;
    faults ??= {};
    for (const fault of outcome.faults) {
      const { name, code } = fieldError(fault);
      const broken = `${name}.${code}`;
      faults[broken] = (faults[broken] ?? 0) + 1;
    }
  }
  return faults;
}
