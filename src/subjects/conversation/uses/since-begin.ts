/** What changed beside a conversation since it began, for operators: it goes on as it began (D43). */
import { toApplicationId } from '../../../domain/application/ids.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { flowWith } from '../../../domain/conversation/flow.ts';
import { effectiveBrand } from '../../../domain/partner/brand.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { isFlowVersion } from '../sql/flows.ts';
import { keyNow } from '../sql/key-now.ts';

export interface SinceBegin {
  /** When the key of the application was revoked; null: it is not, or the application is gone. */
  readonly keyRevokedAt: Date | null;
  /**
   * A conversation that begins now would have another flow, or another name of the partner, or none would begin. null:
   * nothing is said yet, or the application is gone.
   */
  readonly isBrandChanged: boolean | null;
}

/** Compares the key and its brand, as they are now, with what the conversation began with. */
export async function sinceBegin(session: Session, row: ConversationRow): Promise<SinceBegin> {
  const key = await keyNow(session, toApplicationId(row.application_id));
  if (key === null) return { keyRevokedAt: null, isBrandChanged: null };
  const { revokedAt, brand, partnerName } = key;
  if (row.flow_id === null) return { keyRevokedAt: revokedAt, isBrandChanged: null };
  const isSame =
    brand.conversation !== false &&
    effectiveBrand(brand, partnerName).partner === row.partner_name &&
    (await isFlowVersion(session, row.flow_id, flowWith(DEFAULT_FLOW, brand.conversation || {})));
  return { keyRevokedAt: revokedAt, isBrandChanged: !isSame };
}
