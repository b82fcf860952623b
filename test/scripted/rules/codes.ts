/** A code signs once, and a person who signed said a code that went out to the second phone of this person. */
import type { Found, History } from '../seen.ts';

export function checkCodes({ persons, store }: History): Found[] {
  return persons.flatMap(({ applicationId, told, codes, script: { ends } }): Found[] => {
    const found: Found[] = [];
    const used = store.usedCodes.get(applicationId) ?? 0;
    if (used !== Number(ends.isSigned)) found.push({ applicationId, text: `${used} codes were used` });
    const isKnown = told.some(
      ({ code, heardAtMs }) => code !== null && heardAtMs !== null && codes.includes(code),
    );
    if (used > 0 && !isKnown)
      found.push({ applicationId, text: 'a code was right that the second phone never got' });
    const right = (store.evidence.get(applicationId) ?? []).filter(
      ({ kind, facts }) => kind === 'code_checked' && facts.result === 'right',
    ).length;
    if (right !== used)
      found.push({ applicationId, text: `the evidence has ${right} right codes, the store ${used}` });
    return found;
  });
}
