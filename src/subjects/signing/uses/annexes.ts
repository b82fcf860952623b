/**
 * The annexes of a signed contract: the words of the consent and of the offer, as the applicant read them before the
 * answer (D46; docs/signing.md, "The evidence"). Reads `replies`, whose contents an erasure deletes.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { EvidenceKind } from '../../../domain/evidence/evidence.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readReplyContents } from '../../messages/sql/replies/contents.ts';
import { ANNEXES, type Annex, type AnnexTexts } from '../pdf/make.ts';
import type { Evidence } from '../sql/evidence.ts';

/** What showed the words, and what answered them. */
const ABOUT = {
  consent: ['data_consent_asked', 'data_consent_given'],
  offer: ['offer_shown', 'offer_accepted'],
} as const satisfies Readonly<Record<Annex, readonly [asked: EvidenceKind, answered: EvidenceKind]>>;

/** The reply that has the words of an annex, and the SHA-256 of these, by the evidence; null: it tells of none. */
export function annexFacts(
  annex: Annex,
  evidence: readonly Evidence[],
): { readonly turn: number; readonly sha256: string } | null {
  const [asked, answered] = ABOUT[annex];
  const before = evidence.findLastIndex(({ kind }) => kind === answered);
  const shown = evidence.slice(0, Math.max(before, 0)).findLast(({ kind }) => kind === asked);
  return shown === undefined ? null : (JSON.parse(shown.facts) as { turn: number; sha256: string });
}

/** The words of the annexes, each with the hash that the evidence has. */
export async function readAnnexes(
  session: Session,
  vault: Vault,
  id: ApplicationId,
  evidence: readonly Evidence[],
): Promise<AnnexTexts> {
  const replies = await readReplyContents(session, vault, id);
  const found: Partial<Record<Annex, string>> = {};
  for (const annex of ANNEXES) {
    const facts = annexFacts(annex, evidence);
    const text = replies.find(({ turn }) => turn === facts?.turn)?.content?.text;
    if (text !== undefined && hash('sha256', text) === facts?.sha256) found[annex] = text;
  }
  return found;
}
