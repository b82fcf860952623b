/** The parts of the desk that the program gets: settings, tables, loops and jobs. */
import type { Subject } from '../../program/subject/subject.ts';
import { REVIEW_DUE_HOURS, SECOND_LOOK_SHARE, UNDO_SECONDS } from './settings.ts';

export const desk: Subject = {
  settings: [REVIEW_DUE_HOURS, SECOND_LOOK_SHARE, UNDO_SECONDS],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => ({
    reindexings: (await import('./sql/proposal-macs.ts')).PROPOSAL_MACS,
  }),
  service: async () => (await import('./service.ts')).deskService(),
};
