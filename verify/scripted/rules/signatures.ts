/**
 * No contract is signed that was not shown: the signed contract is the one whose bytes the channel took, whose hash the
 * text beside it said, and which the person accepted after the phone had shown it.
 */
import type { Found, History, PersonSeen, Stored } from '../seen.ts';

export function checkSignatures({ persons, store }: History): Found[] {
  return persons.flatMap((person) => {
    const { applicationId } = person;
    return faultsOf(person, store).map((text) => ({ applicationId, text }));
  });
}

function faultsOf({ applicationId, told, taken }: PersonSeen, store: Stored): string[] {
  const faults = taken
    .filter(({ document, hashInWords }) => document !== null && document !== hashInWords)
    .map(({ replyId }) => `reply ${replyId} says another hash than its document has`);
  const rows = store.evidence.get(applicationId) ?? [];
  const at = rows.findIndex(({ kind }) => kind === 'signed');
  if (at === -1) return faults;
  const sha256 = rows[at]!.facts.sha256;
  const contracts = store.contracts.get(applicationId) ?? [];
  if (!contracts.some((one) => one.sha256 === sha256 && ['signed', 'withdrawn'].includes(one.state)))
    faults.push('the signed contract is not the stored one');
  const shown = taken.find(({ document, isFailed }) => document === sha256 && !isFailed);
  if (shown === undefined) faults.push('the channel never got the signed contract');
  if (!told.some(({ accepts, heardAtMs }) => accepts === sha256 && heardAtMs !== null))
    faults.push('the person never accepted the signed contract');
  const before = rows.slice(0, at);
  for (const kind of ['contract_made', 'contract_shown', 'contract_accepted'] as const) {
    if (!before.some((row) => row.kind === kind && row.facts.sha256 === sha256))
      faults.push(`no "${kind}" of the contract stands before the signature`);
  }
  for (const kind of ['id_checked', 'code_checked'] as const) {
    if (!before.some((row) => row.kind === kind && row.facts.result === 'right'))
      faults.push(`no right "${kind}" stands before the signature`);
  }
  return faults;
}
