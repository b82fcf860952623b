/** The tables of the desk: what is kept, sealed and deleted, and when. */
import { aged, type Table } from '../../../ground/postgres/table.ts';
import { noteIdentity } from './notes.ts';

const DECISIONS_KEPT = "interval '100 days'";

export const BACKLOG_COUNTS = {
  name: 'backlog_counts',
  person: { not: 'numbers by hour' },
  fold: { job: 'fold counts of the backlog', key: ['created_hour', 'due_hour'], sums: ['items'] },
} satisfies Table;

/** A page with a closing time in the future was closed while the clock was ahead (D39). */
export const LEFT_PAGES = {
  name: 'left_pages',
  person: { not: 'random ids of closed pages by operator, for an hour' },
  kept: {
    job: 'forget pages that were closed',
    until: "left_at NOT BETWEEN now() - interval '1 hour' AND now() + interval '1 hour'",
    by: { scan: 'a hundred rows an operator' },
    isFixed: true,
  },
} satisfies Table;

/** A selection that lasts longer than any may was made while the clock was ahead (D39). */
export const SELECTIONS = {
  name: 'selections',
  person: { not: 'ids of applications in review, for ten minutes' },
  kept: {
    job: 'forget selections that ended',
    until: "ends_at NOT BETWEEN now() AND now() + interval '1 day'",
    by: { scan: 'ten rows an operator' },
    isFixed: true,
  },
} satisfies Table;

export const APPLICATION_NOTES = {
  name: 'application_notes',
  person: 'application',
  sealed: {
    column: 'content',
    kind: 'notes',
    id: 'id',
    under: ['application_id', 'seal_id'],
    identity: noteIdentity,
  },
} satisfies Table;

export const DECISION_HOURS = {
  name: 'decision_hours',
  person: { not: 'numbers by operator and hour' },
  kept: { job: 'forget counts of decisions', until: aged('first_ms', DECISIONS_KEPT), by: 'first_ms' },
} satisfies Table;

/** Looks that nobody took are deleted too. */
export const SECOND_LOOKS = {
  name: 'second_looks',
  person: 'application',
  kept: { job: 'forget second looks', until: aged('drawn_ms', DECISIONS_KEPT), by: 'drawn_ms' },
} satisfies Table;

export const PROPOSALS = {
  name: 'proposals',
  person: 'application',
  kept: {
    job: 'forget proposals that ended',
    until: `state <> 'proposed' AND ${aged('ended_ms', DECISIONS_KEPT)}`,
    by: 'ended_ms',
  },
} satisfies Table;

export const DESK_REQUESTS = {
  name: 'desk_requests',
  person: { not: 'numbers of applications by operator and key of a request' },
  kept: { job: 'forget proposals that ended', until: aged('stored_ms', DECISIONS_KEPT), by: 'stored_ms' },
} satisfies Table;

/** A claim that lasts longer than any may was made while the clock was ahead (D39). */
export const INBOX_CLAIMS = {
  name: 'inbox_claims',
  person: { not: 'ids of applications by operator, for minutes' },
  kept: {
    job: 'forget claims of conversations',
    until: "claimed_until NOT BETWEEN now() AND now() + interval '1 day'",
    by: { scan: 'a few rows an operator' },
  },
} satisfies Table;

export const TABLES: readonly Table[] = [
  { name: 'review_items', person: 'application' },
  BACKLOG_COUNTS,
  LEFT_PAGES,
  SELECTIONS,
  APPLICATION_NOTES,
  { name: 'pends', person: 'application' },
  { name: 'open_pends', person: 'application' },
  DECISION_HOURS,
  SECOND_LOOKS,
  PROPOSALS,
  { name: 'open_proposals', person: 'application' },
  DESK_REQUESTS,
  INBOX_CLAIMS,
  { name: 'operator_searches', person: { not: 'numbers by operator' } },
  { name: 'saved_views', person: { not: 'names that operators gave to views, with filters' } },
];
