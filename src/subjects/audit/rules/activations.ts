/**
 * Compares the activations of policies with the acts of the record: each activation has an act in its transaction, and
 * each act its activation (docs/audit.md, "Activations"). Pure.
 */

/** The act that the record has of an activation. */
export const ACTIVATION = 'policy activate';

interface Activation {
  readonly id: number;
  readonly version: string;
  readonly at: Date;
  readonly by: string;
  readonly reason: string;
}

interface RecordedAct {
  readonly id: number;
  readonly at: Date;
  readonly actor: string;
  readonly target: string | null;
  readonly reason: string | null;
}

/** An activation without its act, or an act without its activation; the id of the other one is null. */
export interface Mismatch {
  readonly activation: number | null;
  readonly act: number | null;
  readonly fault: string;
}

/** `policy VERSION`, and whatever the act says after it. */
const VERSION = /^policy ([a-z0-9][a-z0-9.-]*)/;

/**
 * The mismatches: activations by their ids, then acts by theirs. An act fits an activation of the same version, by the
 * same operator and for the same reason. Of several the act takes the last one that was not after it, because both are
 * in one transaction; where the clock was set back in between, any.
 */
export function mismatchesOf(
  activations: readonly Activation[],
  acts: readonly RecordedAct[],
): readonly Mismatch[] {
  const open = Map.groupBy(activations, ({ version, by, reason }) => keyOf(version, by, reason));
  const alone: Mismatch[] = [];
  for (const { id, at, actor, target, reason } of acts) {
    const version = VERSION.exec(target ?? '')?.[1] ?? '';
    const fitting = open.get(keyOf(version, actor, reason)) ?? [];
    const index = fitting.findLastIndex((one) => one.at <= at);
    if (fitting.length > 0) fitting.splice(Math.max(index, 0), 1);
    else
      alone.push({
        activation: null,
        act: id,
        fault: 'the store has no activation of this act of the record',
      });
  }
  const planted = [...open.values()]
    .flat()
    .toSorted((a, b) => a.id - b.id)
    .map(({ id }) => ({ activation: id, act: null, fault: 'the record has no act of this activation' }));
  return [...planted, ...alone];
}

const keyOf = (version: string, by: string, reason: string | null) => JSON.stringify([version, by, reason]);
