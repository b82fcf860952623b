/** Draws by shares. */

/** The one that `drawn` (from 0 on) falls on, where each takes its share; undefined behind the last share. */
export function drawBy<One extends { readonly share: number }>(
  some: readonly One[],
  drawn: number,
): One | undefined {
  let sum = 0;
  return some.find(({ share }) => {
    sum += share;
    return drawn < sum;
  });
}
