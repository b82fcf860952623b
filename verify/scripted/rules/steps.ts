/**
 * No step is taken twice: each consent, acceptance, signature and end stands in the evidence once. A contract that did
 * not reach the person for certain is accepted again.
 */
import { lostContracts } from '../lost-contracts.ts';
import type { Found, History } from '../seen.ts';
import { wantedEnds } from '../wanted-ends.ts';

const ONCE = [
  'data_consent_given',
  'data_consent_refused',
  'offer_accepted',
  'contract_made',
  'contract_accepted',
  'declined',
  'withdrawal_asked',
  'signed',
  'withdrawn',
];

export function checkSteps({ persons, store }: History): Found[] {
  return persons.flatMap((person): Found[] => {
    const { applicationId } = person;
    const { isSigned } = wantedEnds(person, store);
    const rows = store.evidence.get(applicationId) ?? [];
    const count = (kind: string) => rows.filter((row) => row.kind === kind).length;
    const most = (kind: string) =>
      kind === 'contract_accepted' ? 1 + lostContracts(store, applicationId) : 1;
    const found = ONCE.filter((kind) => count(kind) > 1 && count(kind) > most(kind)).map((kind) => ({
      applicationId,
      text: `the evidence has "${kind}" ${count(kind)} times`,
    }));
    if (count('signed') !== Number(isSigned))
      found.push({ applicationId, text: `the evidence has ${count('signed')} signatures` });
    const contracts = (store.contracts.get(applicationId) ?? []).filter(({ state }) =>
      ['open', 'signed', 'withdrawn'].includes(state),
    );
    if (contracts.length > 1) found.push({ applicationId, text: `${contracts.length} contracts at once` });
    return found;
  });
}
