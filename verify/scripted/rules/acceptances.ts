/**
 * Nobody accepts what the phone had not shown: each consent, offer and contract that is accepted in the evidence was
 * accepted by a message of this person, and the phone had shown that very text before.
 */
import type { Found, History, PersonSeen, StoredEvidence } from '../seen.ts';

/** What was accepted, and the rows that have the hash of its text. */
const SHOWN_BY: Readonly<Record<string, string>> = {
  data_consent_given: 'data_consent_asked',
  offer_accepted: 'offer_shown',
  contract_accepted: 'contract_shown',
};

export function checkAcceptances({ persons, store, indexOf }: History): Found[] {
  return persons.flatMap((person) => {
    const rows = store.evidence.get(person.applicationId) ?? [];
    return rows.flatMap((row, at) => {
      const shownBy = SHOWN_BY[row.kind];
      if (shownBy === undefined) return [];
      const asked = rows.slice(0, at).filter(({ kind }) => kind === shownBy);
      const text = faultOf(person, row, asked, indexOf);
      return text === null ? [] : [{ applicationId: person.applicationId, text }];
    });
  });
}

function faultOf(
  { told, shown }: PersonSeen,
  { kind, facts }: StoredEvidence,
  asked: readonly StoredEvidence[],
  indexOf: (id: string) => string,
): string | null {
  const message = told.find(({ id }) => indexOf(id) === facts.message_index);
  if (message === undefined) return `"${kind}" is of no message of this person`;
  const texts = new Set(asked.map((row) => row.facts.text_sha256 ?? row.facts.sha256));
  const hasRead = shown.slice(0, message.shown).some((text) => texts.has(text));
  return hasRead ? null : `"${kind}" by "${message.what}", and the phone had not shown what is accepted`;
}
