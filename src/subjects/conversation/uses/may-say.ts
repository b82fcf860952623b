/**
 * Whether an operator's text can go to the person of a conversation now. Reads `suppressions` and the database's clock.
 */
import { WINDOW_MS } from '../../../domain/message/reply.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { isMuted } from '../sql/begin.ts';
import type { ConversationRow } from '../sql/conversations.ts';

/** Why no text can go to the person. `window_closed`: the person wrote over 24 hours ago, or never. */
export const UNSAYABLE = ['opted_out', 'wrong_person', 'window_closed'] as const;
export type Unsayable = (typeof UNSAYABLE)[number];

/** Until when the channel takes a free text; null: the person has never written. */
export function windowEnd({ heardAt }: Pick<ConversationRow, 'heardAt'>): Date | null {
  return heardAt && new Date(heardAt.getTime() + WINDOW_MS);
}

/** Why no text can go to the person now, the lasting reason first; null: one can. */
export async function whyUnsayable(session: Session, row: ConversationRow): Promise<Unsayable | null> {
  // After the end no turn hears of an opt-out from elsewhere, so it is read here.
  if (row.state?.optedOut || (await isMuted(session, row))) return 'opted_out';
  if (row.state?.wrongPerson) return 'wrong_person';
  const end = windowEnd(row);
  return end === null || end <= (await databaseTime(session)) ? 'window_closed' : null;
}
