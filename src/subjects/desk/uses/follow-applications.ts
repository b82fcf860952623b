/** Deletes what the desk has of applications that are gone. */

import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { applicationsWithNotes, eraseNotes } from '../sql/notes.ts';
import { applicationsWithPends, deletePends } from '../sql/pends.ts';

/** The applications after which the next call goes on; 0: at the beginning. */
export interface Place {
  notes: number;
  pends: number;
}

/**
 * Deletes the notes of applications that are deleted or erased, and the pends of those that are deleted, some at a
 * time. Moves the place on, to 0 at the end.
 */
export async function followApplications(database: Database, place: Place): Promise<void> {
  const noted = await applicationsWithNotes(database, place.notes);
  const withPerson = new Set(await stillThere(database, noted));
  const unnoted = noted.filter((id) => !withPerson.has(id));
  if (unnoted.length > 0) await inTransaction(database, (session) => eraseNotes(session, unnoted));
  place.notes = noted.at(-1) ?? 0;

  const pended = await applicationsWithPends(database, place.pends);
  const there = new Set(await stillThere(database, pended, 'also erased'));
  const gone = pended.filter((id) => !there.has(id));
  if (gone.length > 0) await deletePends(database, gone);
  place.pends = pended.at(-1) ?? 0;
}
