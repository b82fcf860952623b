/** The evidence of each application is numbered without a gap, and each row follows from the one before. */
import type { Found, History } from '../seen.ts';

export function checkEvidence({ store }: History): Found[] {
  return [...store.evidence].flatMap(([applicationId, rows]) => {
    const gap = rows.findIndex(({ number }, index) => number !== index + 1);
    const broken = rows.find(({ isChained }) => !isChained);
    return [
      ...(gap === -1 ? [] : [{ applicationId, text: `evidence ${gap + 1} is missing` }]),
      ...(broken === undefined
        ? []
        : [{ applicationId, text: `evidence ${broken.number} does not follow from the row before` }]),
    ];
  });
}
