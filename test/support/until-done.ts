/** Repeats what a test does until nothing is left to do. */

const MOST_STEPS = 1_000;

/** Repeats a step until it is told that nothing is left. Fails where something is left after a thousand steps. */
export async function untilDone(step: () => Promise<boolean>): Promise<void> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) if (await step()) return;
  throw new Error(`something is left to do after ${MOST_STEPS} steps`);
}
