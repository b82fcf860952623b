/** What a turn leaves as evidence: what its reply shows, and what the person does. Hashes and ids alone (D46). */
import { hash } from 'node:crypto';
import type { EvidenceEntry } from '../../signing/rules/evidence.ts';
import type { ProvenQuestion, TurnReply } from '../rules/compose.ts';
import type { EvidenceAct } from '../rules/effect.ts';
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

/** What a person does by an input; `contract` is the SHA-256 of the contract that is accepted. */
export function actOf(
  act: EvidenceAct,
  input: InputRow | null,
  { turn, now, contract }: { readonly turn: number; readonly now: Date; readonly contract: string | null },
): EvidenceEntry {
  const facts = { turn, input: input?.id ?? null, message_index: input?.message_index ?? null };
  return {
    kind: act,
    at: input?.at ?? now,
    facts: act === 'contract_accepted' ? { ...facts, sha256: contract } : facts,
  };
}
