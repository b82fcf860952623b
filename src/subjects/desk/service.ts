/** What `serve` and `worker` run of the desk. */
import type { Service } from '../../program/subject/subject.ts';
import { startApplying } from './applying.ts';
import { startEndingPends } from './ending-pends.ts';
import { startExpansion } from './expansion.ts';
import { foldBacklogCounts } from './sql/backlog.ts';
import { forgetLeftPages } from './sql/claims.ts';
import { forgetDecisions } from './sql/decisions.ts';
import { forgetProposals } from './sql/open-proposals.ts';
import { forgetLooks } from './sql/second-looks.ts';
import { forgetSelections } from './sql/selections.ts';
import { followApplications, type Place } from './uses/follow-applications.ts';

/** The jobs of one process: each remembers where it goes on. */
export function deskService(): Service {
  const place: Place = { notes: 0, pends: 0 };
  return {
    upkeep: [
      { name: 'fold counts of the backlog', run: ({ database }) => foldBacklogCounts(database) },
      {
        name: 'delete notes and pends without applications',
        seldom: true,
        run: ({ database }) => followApplications(database, place),
      },
      { name: 'forget proposals that ended', seldom: true, run: ({ database }) => forgetProposals(database) },
      { name: 'forget counts of decisions', seldom: true, run: ({ database }) => forgetDecisions(database) },
      { name: 'forget second looks', seldom: true, run: ({ database }) => forgetLooks(database) },
      {
        name: 'forget selections that ended',
        seldom: true,
        run: ({ database }) => forgetSelections(database),
      },
      {
        name: 'forget pages that were closed',
        seldom: true,
        run: ({ database }) => forgetLeftPages(database),
      },
    ],
    loops: [startExpansion, startApplying, startEndingPends],
  };
}
