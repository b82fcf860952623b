/**
 * One step of a reseal, which the running services take beside their work (docs/keys.md, "The data key"). Takes a step
 * in `reseals`; each kind writes its own tables.
 */
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { SealedKind } from '../../../seal/witness.ts';
import { recordStep, type StepStart, takeStep } from '../sql/reseals.ts';

/** The most applications a second over all processes of a reseal, so that registrations go on. */
const RATE = 25_000;
/**
 * A single value counts as five applications. It takes 24 microseconds of CPU, and an application of a large batch
 * takes 2, so 5,000 values a second take an eighth of a core (docs/performance.md).
 */
const VALUE_COST = 5;
/**
 * A timer cuts its time to whole milliseconds and may ring one early, and a process that asks too early takes no step.
 */
const TIMER_EARLY_MS = 2;

export interface ResealContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly kinds: readonly SealedKind[];
}

/** What a turn did. `idle`: no step was due for this process. */
type ResealTurn = { readonly kind: 'idle' | 'finished' } | { readonly kind: 'step'; restMs: number };

/**
 * Takes a step if one is due: seals some values again with the first data key of this process. A step may run twice
 * without harm. After `restMs` the next step is due.
 */
export async function resealTurn({ database, vault, clock, kinds }: ResealContext): Promise<ResealTurn> {
  const keyId = vault.sealingKey.id;
  const start = await takeStep(database, keyId);
  if (start === null) return { kind: 'idle' };
  const sinceMs = clock.monotonicMs();
  const index = kinds.findIndex(({ name }) => name === start.kind);
  const kind = kinds[index];
  if (kind === undefined) throw new Error(`there are no sealed values of the kind ${start.kind}`);
  const step = await kind.reseal(database, vault, start.from);
  const next = step.next === null ? firstStep(kinds.slice(index + 1)) : { kind: kind.name, from: step.next };
  const work = Math.max(step.applications, VALUE_COST * step.resealed);
  const restMs = Math.max(0, (work / RATE) * 1_000 - (clock.monotonicMs() - sinceMs));
  await recordStep(database, keyId, start, { ...step, next, restMs });
  return next === null ? { kind: 'finished' } : { kind: 'step', restMs: restMs + TIMER_EARLY_MS };
}

/** Where the first of these kinds begins; null: there are no kinds. */
export function firstStep([kind]: readonly SealedKind[]): StepStart | null {
  return kind === undefined ? null : { kind: kind.name, from: '' };
}
