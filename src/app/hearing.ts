/**
 * Passes what persons say at the channel to the subjects that listen. `Service.hear` (program/subject/subject.ts) has
 * the rule.
 */
import type { Heard } from '../domain/message/channel-event.ts';
import type { HearContext } from '../program/subject/subject.ts';
import { loadServices } from './subjects.ts';

/** Resolves when every subject has committed what it heard; rejects if one of them could not. */
export type Hear = (heard: readonly Heard[]) => Promise<void>;

/** Loads the subjects that listen. */
export async function loadHearing(context: HearContext): Promise<Hear> {
  const listeners = (await loadServices()).flatMap(({ hear }) => hear ?? []);
  return async (heard) => {
    let left = heard;
    for (const listen of listeners) {
      const taken = new Set(left.length === 0 ? [] : await listen(context, left));
      left = left.filter((one) => !taken.has(one));
    }
  };
}
