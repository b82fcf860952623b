/** No send begins to a phone after its opt-out. */
import type { Found, History } from '../history.ts';
import { applicationOf, type Lookup } from '../lookup.ts';

export function checkOptOuts({ optOuts, sends }: History, lookup: Lookup): Found[] {
  const byPhone = Map.groupBy(sends, ({ phone }) => phone);
  return optOuts.flatMap(({ phone, seen }) =>
    (byPhone.get(phone) ?? [])
      .filter(({ messageId, atMs }) => atMs > seen.atMs && !seen.messageIds.includes(messageId))
      .map(({ messageId }) => ({
        partnerId: lookup.stored(applicationOf(messageId))?.partnerId ?? null,
        text: `message ${messageId} went out after its phone had opted out`,
      })),
  );
}
