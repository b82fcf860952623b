/** What a turn leaves as evidence: what its reply shows, and what the person does. Hashes and ids alone (D46). */
import { hash } from 'node:crypto';
import type { EvidenceAct } from '../../../domain/conversation/effect.ts';
import { type EvidenceEntry, receivedFacts } from '../../../domain/evidence/evidence.ts';
import type { ReceivedWithdrawal } from '../../../domain/loan/withdrawal.ts';
import { fromBigint } from '../../../seal/blind-indexes.ts';
import type { ProvenQuestion, TurnReply } from '../rules/compose.ts';
import type { InputRow } from '../sql/inputs.ts';

const KINDS = {
  consent: 'data_consent_asked',
  summary: 'offer_shown',
  contract: 'contract_shown',
} as const satisfies Readonly<Record<ProvenQuestion, EvidenceEntry['kind']>>;

/** The text that a reply shows, and the contract beside it. What no reply tells is no evidence of anything shown. */
export function shownBy({ shows, text, document }: TurnReply, turn: number, now: Date): EvidenceEntry[] {
  if (shows === null) return [];
  const sha256 = hash('sha256', text);
  const facts = document === null ? { turn, sha256 } : { turn, sha256: document.sha256, text_sha256: sha256 };
  return [{ kind: KINDS[shows], at: now, facts }];
}

/**
 * What a person does by an input; `contract` is the SHA-256 of the contract that is accepted. `received`: an operator
 * says it in the person's place.
 */
export function actOf(
  act: EvidenceAct,
  input: InputRow | null,
  {
    turn,
    now,
    contract,
    received,
  }: {
    readonly turn: number;
    readonly now: Date;
    readonly contract: string | null;
    readonly received: ReceivedWithdrawal | null;
  },
): EvidenceEntry {
  const facts = { turn, ...messageOf(input), ...receivedFacts(received) };
  return {
    kind: act,
    at: input?.at ?? now,
    facts: act === 'contract_accepted' ? { ...facts, sha256: contract } : facts,
  };
}

/** What was proven by a person's message names this message, beside the ones that it names already. */
export function provenBy(entry: EvidenceEntry, input: InputRow | null): EvidenceEntry {
  if ('message_index' in entry.facts) return entry;
  return { ...entry, facts: { ...entry.facts, ...messageOf(input) } };
}

/** The index of the channel's id is in hex, as everywhere in the evidence. */
function messageOf(input: InputRow | null) {
  const index = input?.message_index ?? null;
  return {
    input: input?.id ?? null,
    message_index: index === null ? null : fromBigint<'channel_message_id'>(index),
  };
}
