/** What came back while the page was open, as far as it is told beside every page. */
import type { ProposalReply, ProposalsReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';

/** More would cover the page; the list of proposals has them all. */
const MOST_SHOWN = 3;

export interface CameBack {
  /** The last one first. */
  readonly shown: readonly ProposalReply[];
  /** How many there are beside; null: none. With a `+` where the next page of the list may have more. */
  readonly more: string | null;
}

/** `before`: the end of the newest one that was told already. `dismissed` are ids. */
export function cameBack(
  { proposals, next }: Pick<ProposalsReply, 'proposals' | 'next'>,
  before: string,
  dismissed: ReadonlySet<number>,
): CameBack {
  const since = proposals.filter(({ ended_at }) => ended_at !== null && ended_at > before);
  const untold = since.filter(({ id }) => !dismissed.has(id));
  const mayGoOn = next !== null && since.length === proposals.length;
  const beside = Math.max(0, untold.length - MOST_SHOWN);
  const more = beside === 0 && !mayGoOn ? null : `${beside}${mayGoOn ? '+' : ''}`;
  return { shown: untold.slice(0, MOST_SHOWN), more: untold.length === 0 ? null : more };
}
