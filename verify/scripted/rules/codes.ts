/**
 * A code signs once, and a person who signed said a code that went out to the second phone of this person. Where the
 * contract did not reach the person for certain, it is shown again and signed with another code.
 */
import { lostContracts } from '../lost-contracts.ts';
import type { Found, History } from '../seen.ts';
import { wantedEnds } from '../wanted-ends.ts';

export function checkCodes({ persons, store }: History): Found[] {
  return persons.flatMap((person): Found[] => {
    const { applicationId, told, codes } = person;
    const found: Found[] = [];
    const used = store.usedCodes.get(applicationId) ?? 0;
    const least = Number(wantedEnds(person, store).isSigned);
    const isOdd = used < least || (used > least && used > least + lostContracts(store, applicationId));
    if (isOdd) found.push({ applicationId, text: `${used} codes were used` });
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
