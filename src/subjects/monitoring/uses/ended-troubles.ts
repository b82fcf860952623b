/** Lists the troubles that have ended, a page at a time (docs/monitoring.md, "The history of troubles"). Reads only. */
import type { Session } from '../../../ground/postgres/database.ts';
import { type EndedTrouble, readEnded } from '../sql/troubles.ts';

export interface EndedPage {
  readonly troubles: readonly EndedTrouble[];
  /** The page after it begins before this one; null: this is the last page. */
  readonly next: number | null;
}

/** At most `limit` troubles that began before one; null: from the newest on. */
export async function endedTroubles(
  session: Session,
  before: number | null,
  limit: number,
): Promise<EndedPage> {
  const found = await readEnded(session, before, limit + 1);
  const troubles = found.slice(0, limit);
  return { troubles, next: found.length > limit ? troubles.at(-1)!.id : null };
}
