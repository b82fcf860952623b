/** What the channel has said of the texts that the evidence names (D46). */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { EvidenceEntry } from '../../../domain/evidence/evidence.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { repliesOf } from '../../messages/sql/replies.ts';
import { readEvidence } from '../sql/evidence.ts';

/** The kinds of evidence whose text a reply told. */
const SHOWN: readonly EvidenceEntry['kind'][] = ['data_consent_asked', 'offer_shown', 'contract_shown'];

/** When the channel took, delivered and showed each text of the evidence, as far as it has said so. */
export async function deliveriesOf(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<EvidenceEntry[]> {
  const shown = (await readEvidence(session, vault, id)).rows.filter(({ kind }) => SHOWN.includes(kind));
  const turns = new Set(shown.map(({ facts }) => (JSON.parse(facts) as { turn?: number }).turn));
  return (await repliesOf(session, id))
    .filter(({ turn }) => turns.has(turn))
    .map(({ turn, status, channelIndex, sentAt, deliveredAt, readAt }) => ({
      kind: 'text_delivered',
      at: deliveredAt,
      facts: {
        turn,
        status,
        message_index: channelIndex,
        sent_at: sentAt?.toISOString() ?? null,
        delivered_at: deliveredAt?.toISOString() ?? null,
        read_at: readAt?.toISOString() ?? null,
      },
    }));
}
