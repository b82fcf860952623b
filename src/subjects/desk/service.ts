/**
 * What `serve` and `worker` run for the desk: three loops (items of the queue, proposals, pends) and the upkeep jobs.
 */
import type { Service } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { startApplying } from './applying.ts';
import { startEndingPends } from './ending-pends.ts';
import { startExpansion } from './expansion.ts';
import { eraseNotes } from './sql/notes.ts';
import { deletePends } from './sql/pends.ts';

/** The loops and jobs of one process. Each job remembers where it goes on. */
export function deskService(): Service {
  return {
    upkeep: [
      {
        name: 'delete notes and pends without applications',
        seldom: true,
        run: following([
          { table: 'application_notes', orErased: true, forget: eraseNotes },
          { table: 'pends', forget: deletePends },
        ]),
      },
    ],
    loops: [startExpansion, startApplying, startEndingPends],
  };
}
