/** What a decision on many is about, before it is proposed: totals, and what speaks against it. */
import type { ReactNode } from 'react';
import type { ReasonCode } from '../../../src/domain/application/reason-codes.ts';
import type { LookedAtReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { NewBulkBody } from '../api/proposals.ts';
import { Facts } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import type { Format } from '../format/formats.ts';
import { type Texts, useTexts } from '../texts/texts.ts';

export function BulkLook({ seen }: { seen: LookedAtReply }) {
  const { queue } = useTexts();
  const format = useFormat();
  const { count, totals, above_authority, against_score } = seen;
  const share = (part: number) => `${format.number(part)} / ${format.number(count)}`;
  const facts: (readonly [string, ReactNode])[] = [
    [
      queue.total,
      totals
        .map((total) =>
          queue.totalOf(
            total.currency === null
              ? queue.unreadable
              : format.wholeAmount(total.debt_amount, total.currency),
            format.number(total.count),
          ),
        )
        .join(', '),
    ],
    [queue.aboveAuthority, share(above_authority)],
    [queue.againstScore, share(against_score)],
  ];
  return <Facts facts={facts} />;
}

/** What was shown to speak against the decision with this code. */
export function seenOf(
  { above_authority, against_score, contradicted }: LookedAtReply,
  code: ReasonCode | undefined,
): NewBulkBody['seen'] {
  const counts = contradicted.filter(({ reason_code }) => reason_code === code).map(({ count }) => count);
  return { above_authority, against_score, contradicted: counts.reduce((sum, count) => sum + count, 0) };
}

/** How many files contradict a code, and how, in words. */
export function contradictedOf(
  seen: LookedAtReply | null,
  { desk, queue }: Texts,
  format: Format,
): ReadonlyMap<ReasonCode, string> {
  const said = new Map<ReasonCode, string>();
  for (const { reason_code, why, count } of seen?.contradicted ?? []) {
    const text = queue.someFiles(format.number(count), format.number(seen!.count), desk.against[why]);
    const before = said.get(reason_code);
    said.set(reason_code, before === undefined ? text : `${before}; ${text}`);
  }
  return said;
}
