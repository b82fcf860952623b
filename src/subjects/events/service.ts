/** What `serve` and `worker` run for the events: the job that deletes old ones (docs/upkeep.md, "Jobs"). */
import type { Service } from '../../program/subject/subject.ts';
import { forgetPartnerEvents } from './sql/event-retention.ts';

export const EVENTS_SERVICE: Service = {
  upkeep: [
    { name: 'forget partner events', seldom: true, run: ({ database }) => forgetPartnerEvents(database) },
  ],
};
