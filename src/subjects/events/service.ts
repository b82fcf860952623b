/** What `serve` and `worker` run of the events. */
import type { Service } from '../../program/subject/subject.ts';
import { forgetPartnerEvents } from './sql/event-retention.ts';

export const EVENTS_SERVICE: Service = {
  upkeep: [
    { name: 'forget partner events', seldom: true, run: ({ database }) => forgetPartnerEvents(database) },
  ],
};
